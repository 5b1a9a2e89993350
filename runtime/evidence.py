"""What of the machine's rows can be proved: for `ledger verify`, and for the anchors, which hold runs' heads too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any
from uuid import UUID

from django.db import connection

from approvals import rows
from approvals.ledger import canonical, entries, keys
from approvals.ledger.anchors import Head
from approvals.ledger.entries import Entry
from runtime import allowances, checkpoints, issued, precedents
from runtime.agents.agent import OVER
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.credentials import AgentCredential
from runtime.definitions import Agent, AgentVersion, Tool, genuine
from runtime.retention import Tombstone
from runtime.runs import Run

_AT_ONCE = 500


class Steps:
    """The runs' chains of checkpoints, as they are anchored: by the authentication code of the last one."""

    kind = "steps"

    def heads(self, workspace_id: UUID) -> Iterator[Head]:
        found = Run.objects.filter(workspace_id=workspace_id)
        for workspace, key, seq, mac in found.values_list("workspace_id", "pk", "head_seq", "head_mac"):
            yield Head(workspace, rows.public_id(Run.PREFIX, key), seq, bytes(mac))

    def marks(self, workspace_id: UUID, wanted: Sequence[tuple[str, int]]) -> dict[str, bytes]:
        runs = [rows.parse_id(Run.PREFIX, name) for name, _ in wanted]
        with connection.cursor() as cursor:
            cursor.execute(_AT, [runs, [seq for _, seq in wanted], workspace_id])
            return {rows.public_id(Run.PREFIX, key): bytes(mac) for key, mac in cursor.fetchall()}

    def deleted(self, workspace_id: UUID) -> set[str]:
        buried = Tombstone.objects.filter(workspace_id=workspace_id)
        return {each.public_id for each in buried if _proved(each)}


_AT = """
    SELECT c.run_id, c.mac FROM unnest(%s::uuid[], %s::bigint[]) w (run_id, seq)
    JOIN runtime_checkpoint c ON c.run_id = w.run_id AND c.seq = w.seq AND c.workspace_id = %s
"""


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every run, tool, agent and credential of a workspace that is not as it was written."""
    yield from _runs(workspace_id)
    yield from _calls(workspace_id)
    yield from _attempts(workspace_id)
    yield from allowances.unproven(workspace_id)
    yield from _definitions(workspace_id)
    for tombstone in Tombstone.objects.filter(workspace_id=workspace_id).order_by("created_at"):
        if not _proved(tombstone):
            yield f"{tombstone.public_id} is gone, and its tombstone is not as it was written."
    yield from _credentials(workspace_id)


def _credentials(workspace_id: UUID) -> Iterator[str]:
    now, told = rows.now(), issued.as_told(workspace_id)
    for credential in AgentCredential.objects.filter(workspace_id=workspace_id).order_by("created_at"):
        named = f"credential {credential.public_id} ({credential})"
        over = credential.revoked_at is not None or (credential.expires_at is not None and credential.expires_at <= now)
        if not _proved(credential):
            yield f"{named} is not as it was written."
        elif credential.public_id not in told.made:
            yield f"{named} was made by no entry."
        elif not over and not told.in_force(credential.public_id, now):
            yield f"{named} was ended, and its row says that it is in use."


def _runs(workspace_id: UUID) -> Iterator[str]:
    found = Run.objects.filter(workspace_id=workspace_id).order_by("created_at")
    started = _started(workspace_id)
    stopped = _stopped(workspace_id)
    emptied = _emptied(workspace_id)
    read = ("pk", "status", "cancel_by", "head_seq", "head_mac", "requester_id", "agent_id", "version__number")
    for run in found.select_related("version").only(*read).iterator(_AT_ONCE):
        yield from _beginning(run, started.get(run.public_id))
        yield from _standing(run, stopped.get(run.public_id, ""))
        if run.status != "completed" and Checkpoint.objects.filter(run=run, seq=run.head_seq, goto=OVER).exists():
            yield f"{run.public_id} is {run.status}, and by its last checkpoint it is over."
        try:
            checkpoints.verify_tail(run.pk, 0, head_seq=run.head_seq, head_mac=bytes(run.head_mac))
            yield from allowances.lowered(run.pk, _verify_bodies(run, emptied.get(run.public_id, 0)))
        except checkpoints.Unreadable as fault:
            yield f"{run.public_id}: {fault}"


_STOPS = {"run.cancelled": "cancelled", "run.failed": "failed"}


def _stopped(workspace_id: UUID, **which: Any) -> dict[str, str]:
    """Which runs were cancelled or failed, by the last word of the ledger on it."""
    found = Entry.objects.filter(workspace_id=workspace_id, kind__in=[*_STOPS, "run.retried"], **which)
    last = dict(found.order_by("chain_id", "seq").values_list("chain__name", "kind").iterator(_AT_ONCE))
    return {name: _STOPS[kind] for name, kind in last.items() if kind in _STOPS}


def _standing(run: Run, told: str) -> Iterator[str]:
    """Whether a run that was ended goes on though nobody let it. One that failed goes on in order to be cancelled."""
    if told in ("", run.status) or (told == "failed" and run.cancel_by):
        return
    now = Run.objects.filter(pk=run.pk).values_list("status", flat=True).first()
    if _stopped(run.workspace_id, chain__name=run.public_id) == {run.public_id: told} and now not in (told, None):
        yield f"{run.public_id} is {now}, and by the ledger {told}."


def _started(workspace_id: UUID) -> dict[str, dict[str, Any]]:
    """What the ledger says of how each run began."""
    found = Entry.objects.filter(workspace_id=workspace_id, kind="run.started").order_by("chain_id", "seq")
    told = (canonical.parse(bytes(body)) for body in found.values_list("body", flat=True).iterator(_AT_ONCE))
    return {entry["chain"]: entry for entry in told}


def _beginning(run: Run, told: dict[str, Any] | None) -> Iterator[str]:
    """Whose run it is: that person approves none of its calls. Entries of old do not say on whose behalf it was."""
    if told is None:
        yield f"no entry started {run.public_id}."
        return
    asked_by = rows.public_id("per", run.requester_id) if run.requester_id else ""
    agent = rows.public_id(Agent.PREFIX, run.agent_id)
    if told["agent"] != agent:
        yield f"{run.public_id} is of {agent}, and by the ledger of {told['agent']}."
    if told["version"] != run.version.number:
        yield f"{run.public_id} runs version {run.version.number}, and by the ledger version {told['version']}."
    if told.get("requester", asked_by) != asked_by:
        yield f"{run.public_id} asks for {asked_by or 'nobody'}, and by the ledger for {told['requester'] or 'nobody'}."


def _calls(workspace_id: UUID) -> Iterator[str]:
    """Calls and attempts against what the ledger says was sent and what came of it."""
    told: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    found = Entry.objects.filter(workspace_id=workspace_id, kind__in=precedents.SENDINGS).order_by("chain_id", "seq")
    for body in found.values_list("body", flat=True).iterator(_AT_ONCE):
        entry: dict[str, Any] = canonical.parse(bytes(body))
        told[entry["subject"]].append(entry)
    attempts: defaultdict[UUID, list[str]] = defaultdict(list)
    made = Attempt.objects.filter(workspace_id=workspace_id).order_by("call_id", "number")
    for attempt_id, call_id in made.values_list("pk", "call_id").iterator(_AT_ONCE):
        attempts[call_id].append(rows.public_id(Attempt.PREFIX, attempt_id))
    for call in Call.objects.filter(workspace_id=workspace_id).order_by("created_at").iterator(_AT_ONCE):
        about = told[call.public_id]
        for fault in precedents.disagreements(call, attempts[call.pk], about):
            yield f"{call.public_id} {fault}"
        if _unlike(call.status, about) and (fault := _unlike(*_as_it_is_now(call))):
            yield f"{call.public_id} {fault}"


_FIT = {"executed": {"executed"}, "failed": {"failed", "refused"}, "unknown": {"unknown"}}


def _unlike(status: str, told: list[dict[str, Any]]) -> str:
    """How the status of a call differs from the last word of the ledger on its sendings, or nothing."""
    became = [each["outcome"] for each in told if each["kind"] == "outcome.reported"][-1:]
    if (became == ["executed"]) is not (status == "executed"):
        return f"is {status}, and by the ledger {became[0] if became else 'not sent'}."
    if told and told[-1]["kind"] == "call.intended" and status != "executing":
        return f"is {status}, and by the ledger it was sent and nothing is known of it."
    if told and told[-1]["kind"] == "outcome.reported" and status not in _FIT[became[0]]:
        return f"is {status}, and by the ledger {became[0]}."
    return ""


def _as_it_is_now(call: Call) -> tuple[str, list[dict[str, Any]]]:
    """The same once more: it may have gone on between the reading of the entries and that of the calls."""
    status = Call.objects.filter(pk=call.pk).values_list("status", flat=True).first() or call.status
    told = entries.read(call.workspace_id, rows.public_id(Run.PREFIX, call.run_id), only=precedents.SENDINGS)
    return status, [each for each in told if each["subject"] == call.public_id]


def _attempts(workspace_id: UUID) -> Iterator[str]:
    """Attempts whose end was changed: what had no effect may be sent again. What ended before ends were signed, and
    what was given up without an answer, has no code."""
    ended = Attempt.objects.filter(workspace_id=workspace_id).exclude(end_mac=b"").order_by("created_at")
    for attempt in ended.iterator(_AT_ONCE):
        if not _proved(attempt):
            yield f"the end of {attempt.public_id} is not as it was written."


def _verify_bodies(run: Run, emptied: float) -> dict[str, dict[str, int]]:
    """What each checkpoint holds is what its header commits to; what was erased holds nothing, and an entry says up to
    where that was done. Returns what the calls that they proposed may spend. Raises Unreadable."""
    proposed: dict[str, dict[str, int]] = {}
    for checkpoint in Checkpoint.objects.filter(run_id=run.pk).order_by("seq").iterator(_AT_ONCE):
        try:
            body = checkpoints.sealed_body_of(checkpoint)
        except checkpoints.Erased:
            if checkpoint.seq > emptied:
                # It may have been erased since the entries were read.
                emptied = _emptied(run.workspace_id, chain__name=run.public_id).get(run.public_id, 0)
            if checkpoint.seq > emptied:
                raise checkpoints.Unreadable(f"Checkpoint {checkpoint.seq} is empty, and no entry says so.") from None
        else:
            if checkpoint.kind == Checkpoint.Kind.RESULT and not _is_answer(body, run):
                raise checkpoints.Unreadable(f"The answer to {body['call']} is not the one of its result.")
            proposed |= allowances.estimates(body)
    return proposed


def _is_answer(body: dict[str, Any], run: Run) -> bool:
    """Whether the attempt still holds the answer that a result was committed with, or one that came later, which only
    this attempt can hold; nothing, in a run that was erased meanwhile."""
    call_id = rows.parse_id(Call.PREFIX, body["call"])
    attempt = Attempt.objects.filter(call_id=call_id, number=body["attempt"]).first() if call_id else None
    if attempt is None or not attempt.answer:
        return _emptied(run.workspace_id, chain__name=run.public_id).get(run.public_id) == inf
    return attempt.late or canonical.sha256_hex(bytes(attempt.answer)) == body["answer"]


def _emptied(workspace_id: UUID, **which: Any) -> dict[str, float]:
    """Up to which checkpoint each run was emptied, by the ledger: as far as it was pruned, or for ever."""
    found = Entry.objects.filter(
        workspace_id=workspace_id, kind__in=["run.pruned", "run.erased", "run.deleted"], **which
    )
    told: dict[str, float] = {}
    for body in found.order_by("chain_id", "seq").values_list("body", flat=True).iterator(_AT_ONCE):
        entry: dict[str, Any] = canonical.parse(bytes(body))
        told[entry["chain"]] = max(told.get(entry["chain"], 0), entry.get("below", inf))
    return told


def _definitions(workspace_id: UUID) -> Iterator[str]:
    tools, agents = _registered(workspace_id)
    for tool in Tool.objects.filter(workspace_id=workspace_id).order_by("name", "version"):
        if not genuine(tool) or canonical.sha256_hex(bytes(tool.definition)) != tool.digest:
            yield f"tool {tool.name}, version {tool.version}, is not as it was written."
        elif tool.is_active and tools.get(tool.name) != (tool.public_id, tool.digest):
            yield f"tool {tool.name}: version {tool.version} is in force, and no entry put it there last."
    for version in AgentVersion.objects.filter(workspace_id=workspace_id).order_by("agent_id", "number"):
        if not genuine(version) or canonical.sha256_hex(bytes(version.definition)) != version.digest:
            yield f"version {version.number} of agent {version.agent_id.hex} is not as it was written."
    for agent in Agent.objects.filter(workspace_id=workspace_id).order_by("name"):
        named, number = agents.get(agent.public_id, (agent.name, 0))
        if named != agent.name:
            yield f"agent {agent.name} is by the ledger {named}."
        if number != agent.version:
            yield f"agent {agent.name}: version {agent.version} is in force, and no entry put it there last."


def _registered(workspace_id: UUID) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, int]]]:
    """What the ledger says was registered last: of each tool's name its row and digest, of each agent
    its name and version."""
    tools: dict[str, tuple[str, str]] = {}
    agents: dict[str, tuple[str, int]] = {}
    kinds = ["tool.registered", "agent.registered"]
    found = Entry.objects.filter(workspace_id=workspace_id, chain__name="workspace", kind__in=kinds).order_by("seq")
    for body in found.values_list("body", flat=True):
        entry: dict[str, Any] = canonical.parse(bytes(body))
        if entry["kind"] == "tool.registered":
            tools[entry["name"]] = (entry["tool"], entry["digest"])
        else:
            agents[entry["agent"]] = (entry["name"], entry["version"])
    return tools, agents


def _proved(row: AgentCredential | Tombstone | Attempt) -> bool:
    try:
        return row.holds()
    except keys.UnknownKey:
        return False
