"""What of the people's rows can be proved: rulings, revisions, votes, policies, and how each approval ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from approvals import glass, halts, previews, rows
from approvals.approvals import Approval, bar_columns
from approvals.comments import Comment
from approvals.decisions import Decision
from approvals.edits import patch
from approvals.ledger import canonical, entries, keys
from approvals.ledger.entries import Entry
from approvals.people import Team, Workspace
from approvals.policies import Policy
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN, Forged, Ruling

_AT_ONCE = 500
_EMPTY = canonical.sha256_hex(b"")
_ENDS = {f"approval.{status}" for status in Approval.Status.values} - {"approval.pending"}


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every row of a workspace that nobody but whoever wrote the database can have written so."""
    told = _told(workspace_id)
    yield from _unsigned(Policy.objects.filter(workspace_id=workspace_id), _readable)
    yield from _versions(workspace_id)
    yield from _unsigned(Ruling.objects.filter(workspace_id=workspace_id), Ruling.holds)
    yield from _revisions(workspace_id)
    yield from _unsigned(Decision.objects.filter(workspace_id=workspace_id), Decision.holds)
    yield from _decisions(workspace_id, told)
    yield from _edits(workspace_id)
    yield from _unsigned(Comment.objects.filter(workspace_id=workspace_id), Comment.holds)
    yield from _comments(workspace_id, told)
    yield from _unsigned(Approval.objects.filter(workspace_id=workspace_id), Approval.holds)
    yield from _ends(workspace_id, told)
    yield from _names(workspace_id)
    yield from halts.unexplained(workspace_id)
    yield from glass.unexplained(workspace_id)
    yield from previews.unexplained(workspace_id)


@dataclass
class _Told:
    """What the ledger says: the approvals that were opened, how each ended and by whom, what became of their calls,
    who gave which decision, and the comments."""

    opened: set[str] = field(default_factory=set)
    ended: dict[str, tuple[str, str]] = field(default_factory=dict)
    became: dict[str, dict[str, Any]] = field(default_factory=dict)
    decided: set[tuple[str, int, str, int]] = field(default_factory=set)
    said: set[str] = field(default_factory=set)


def _told(workspace_id: UUID) -> _Told:
    told = _Told()
    kinds = {"approval.opened", "decision.made", "comment.made", "outcome.reported", *_ENDS}
    found = Entry.objects.filter(workspace_id=workspace_id, kind__in=kinds).order_by("chain_id", "seq")
    for body in found.values_list("body", flat=True).iterator(_AT_ONCE):
        entry: dict[str, Any] = canonical.parse(bytes(body))
        if entry["kind"] == "approval.opened":
            told.opened.add(entry["approval"])
        elif entry["kind"] == "decision.made":
            told.decided.add((entry["approval"], entry["revision"], entry["by"], entry["turn"]))
        elif entry["kind"] == "comment.made":
            told.said.add(entry["comment"])
        elif entry["kind"] == "outcome.reported":
            told.became[entry.get("approval", "")] = entry
        else:
            told.ended[entry["approval"]] = (entry["kind"].removeprefix("approval."), entry["by"])
    return told


def _unsigned(found: QuerySet[Any], holds: Callable[[Any], bool]) -> Iterator[str]:
    for row in found.order_by("created_at").iterator(_AT_ONCE):
        try:
            proved = holds(row)
        except keys.UnknownKey as fault:
            yield f"{row.public_id} cannot be checked: {fault}"
            continue
        except Forged:
            proved = False
        if not proved:
            yield f"{_name(row)} is not as it was written."


def _versions(workspace_id: UUID) -> Iterator[str]:
    """The versions of the policy that were in force and are gone: an older one rules without them."""
    here = set(Policy.objects.filter(workspace_id=workspace_id).values_list("version", flat=True))
    for entry in entries.read(workspace_id, "workspace", only=["policy.loaded"]):
        if entry["version"] not in here:
            yield f"version {entry['version']} of the policy was in force and is gone."


def _readable(policy: Policy) -> bool:
    """Whether its rules can be read, which its signature has to allow."""
    return isinstance(policy.rules, list)


def _name(row: Any) -> str:
    if isinstance(row, Policy):
        return f"version {row.version} of the policy"
    if isinstance(row, Approval):
        return row.public_id
    return f"{type(row).__name__.lower()} {row.public_id}"


def _revisions(workspace_id: UUID) -> Iterator[str]:
    found = Revision.objects.filter(workspace_id=workspace_id).select_related("ruling", "approval")
    for revision in found.order_by("created_at").iterator(_AT_ONCE):
        ruling, approval = revision.ruling, revision.approval
        here = (revision.digest, revision.args_digest, revision.number, approval.public_id, approval.subject)
        signed = (ruling.digest, ruling.args_digest, ruling.revision, ruling.header.get("approval"), ruling.subject)
        if here != signed:
            yield f"revision {revision.number} of {approval.public_id} is not the one that was ruled on."
        if revision.number == approval.revision and not _asks_by(approval, ruling.rule):
            yield f"{approval.public_id} does not ask those whom its rule names."


def _asks_by(approval: Approval, rule: dict[str, Any]) -> bool:
    """Whether the columns by which people find an approval say what its signed rule does; to escalate adds teams."""
    said = bar_columns(rule)
    same = (approval.rule_id, approval.required) == (said["rule_id"], said["required"])
    return same and set(said["teams"]) <= set(approval.teams)


def _decisions(workspace_id: UUID, told: _Told) -> Iterator[str]:
    found = Decision.objects.filter(workspace_id=workspace_id).select_related("approval", "person")
    here = {
        (decision.approval.public_id, decision.revision, decision.person.public_id, decision.turn)
        for decision in found.iterator(_AT_ONCE)
    }
    for approval, revision, person, turn in sorted(told.decided - here):
        yield f"decision {turn} of {person} on revision {revision} of {approval} is gone."
    for approval, revision, person, turn in sorted(here - told.decided):
        yield f"no entry made decision {turn} of {person} on revision {revision} of {approval}."


def _edits(workspace_id: UUID) -> Iterator[str]:
    """Edits whose patch does not lead from the revision that was edited to the one that came of it. What was erased, or
    was made before patches were kept, has none."""
    found = Decision.objects.filter(workspace_id=workspace_id, verdict=Decision.Verdict.EDIT).exclude(patch_digest="")
    found = found.exclude(patch=b"", message=b"")
    for decision in found.select_related("approval").order_by("created_at").iterator(_AT_ONCE):
        try:
            led = _leads_on(decision)
        except (*UNPROVEN, ValueError):
            led = False
        if not led:
            yield f"the edit {decision.public_id} is not what became of {decision.approval.public_id}."


def _leads_on(decision: Decision) -> bool:
    numbers = (decision.revision, decision.revision + 1)
    revisions = Revision.objects.filter(approval_id=decision.approval_id, number__in=numbers).order_by("number")
    texts = [each.ruling.clear_args() for each in revisions.select_related("ruling")]
    if len(texts) != 2:
        return False
    edited = patch.applied(patch.parse(decision.clear_patch()), canonical.parse(texts[0]))
    return canonical.encode(edited) == texts[1]


def _comments(workspace_id: UUID, told: _Told) -> Iterator[str]:
    found = Comment.objects.filter(workspace_id=workspace_id).only("pk")
    here = {comment.public_id for comment in found.iterator(_AT_ONCE)}
    yield from (f"comment {name} is gone." for name in sorted(told.said - here))
    yield from (f"no entry made comment {name}." for name in sorted(here - told.said))


def _ends(workspace_id: UUID, told: _Told) -> Iterator[str]:
    found = Approval.objects.filter(workspace_id=workspace_id).order_by("created_at").select_related("decided_by")
    here = set()
    for approval in found.only("pk", "status", "outcome", "outcome_note", "decided_by__id").iterator(_AT_ONCE):
        here.add(approval.public_id)
        yield from _end(approval, told)
    for name in sorted(told.opened - here):
        yield f"{name} was opened and is gone."


def _end(approval: Approval, told: _Told) -> Iterator[str]:
    name, status = approval.public_id, str(approval.status)
    if name not in told.opened:
        yield f"no entry opened {name}."
        return
    ended, by = told.ended.get(name, ("pending", ""))
    if ended != status:
        yield f"{name} is {status}, and by the ledger it is {ended}."
    if approval.decided_by and approval.decided_by.public_id != by:
        yield f"{name} was ended by {approval.decided_by.public_id}, and by the ledger by {by or 'nobody'}."
    became = told.became.get(name, {"outcome": "none"})
    if approval.outcome != became["outcome"]:
        yield f"the call of {name} is {approval.outcome}, and by the ledger {became['outcome']}."
    if not _noted(approval, became):
        yield f"what became of the call of {name} is told in other words than it was."


def _noted(approval: Approval, became: dict[str, Any]) -> bool:
    """Whether the note beside an outcome is the one that was reported. Entries of old do not say; erasing empties it
    together with what the agent said."""
    digest = became.get("note_digest", None if "at" in became else _EMPTY)
    if digest in (None, canonical.sha256_hex(approval.outcome_note.encode())):
        return True
    return not approval.outcome_note and not approval.context


def _names(workspace_id: UUID) -> Iterator[str]:
    """The workspace and its teams under other names than the ledger gave them: a name tells people whom they ask."""
    found: list[Workspace | Team] = [*Workspace.objects.filter(pk=workspace_id)]
    found += Team.objects.filter(workspace_id=workspace_id).order_by("created_at")
    here = {thing.public_id: thing for thing in found}
    told = entries.read(workspace_id, "workspace", only=["workspace.founded", "team.formed", "team.renamed"])
    for entry in {entry.get("team", ""): entry for entry in told}.values():  # the last of each
        thing = here.get(entry.get("team", rows.public_id(Workspace.PREFIX, workspace_id)))
        if thing is None:
            yield f"team {entry['slug']} was formed and is gone."
        elif (thing.slug, thing.name) != (entry["slug"], entry.get("name", thing.name)):
            yield f"{thing.public_id} is called {thing.name} ({thing.slug}), and by the ledger otherwise."
