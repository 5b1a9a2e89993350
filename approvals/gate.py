"""The seam: all that the machine may ask of approvals. Nothing else of this app is imported by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import models

from approvals import (
    approvals,
    bars,
    edits,
    erasure,
    floods,
    granted,
    halts,
    masking,
    people,
    policies,
    questions,
    requested,
    revisions,
    rows,
    rulings,
    schemas,
    workspaces,
)
from approvals.answered import Answer as Answer
from approvals.answered import answer as answer
from approvals.approvals import Approval
from approvals.asked import Asked as Asked
from approvals.asked import Held as Held
from approvals.asked import ask as ask
from approvals.changes import Change as Change
from approvals.changes import held as propose
from approvals.clearance import REHEARSED as REHEARSED
from approvals.clearance import Cleared as Cleared
from approvals.clearance import Lapsed as Lapsed
from approvals.clearance import NotCleared as NotCleared
from approvals.clearance import clearance as clearance
from approvals.clearance import lapsed as lapsed
from approvals.deadlines import do_due as do_due
from approvals.edits import money
from approvals.erasure import StillOpen as StillOpen
from approvals.ledger import canonical, entries
from approvals.people import Person, Workspace
from approvals.pins import Pin as Pin
from approvals.pins import of as pin_of
from approvals.pins import pin as pin
from approvals.pins import value_at as value_at
from approvals.policies import NeedsApproval as NeedsApproval
from approvals.policies import changing as changing
from approvals.resolutions import Resolution as Resolution
from approvals.rulings import Ruling
from approvals.schemas import Admission as Admission
from approvals.schemas import Inadmissible as Inadmissible
from approvals.schemas.order import order_of as order_of
from approvals.schemas.order import ordered as ordered

__all__ = [
    "REHEARSED",
    "Admission",
    "Answer",
    "Asked",
    "Change",
    "Cleared",
    "Held",
    "Inadmissible",
    "Judgement",
    "Lapsed",
    "NeedsApproval",
    "NotCleared",
    "Pin",
    "Proposal",
    "Resolution",
    "StillOpen",
    "ToolFacts",
    "admit",
    "answer",
    "ask",
    "changing",
    "clearance",
    "covered",
    "do_due",
    "erase",
    "expire_due",
    "halts",
    "hold",
    "judge",
    "lapsed",
    "masked",
    "may",
    "only_workspace",
    "open_among",
    "person_named",
    "pin",
    "pin_of",
    "propose",
    "refuse",
    "report",
    "resolution",
    "value_at",
    "withdraw",
    "workspace_named",
    "workspace_of",
    "workspaces_of",
]


Masked = Mapping[str, tuple[str, ...]]
"""For each tool the pointers that policy masks in its arguments."""
NOTHING_MASKED: Masked = {}


@dataclass(frozen=True)
class ToolFacts:
    """A tool as people are asked about it. ``risk`` is what its hints suggest; a rule may say otherwise."""

    name: str
    title: str
    definition_digest: str
    schema: dict[str, Any]
    summary: str = ""
    effect: str = "unsafe"
    risk: str | None = None
    response_schema: dict[str, Any] = field(default_factory=dict)
    """What the tool says that it gives: an answer in its place is held to it."""
    masked: tuple[str, ...] = ()
    """The pointers that policy masks, where its arguments are shown."""


@dataclass(frozen=True)
class Proposal:
    """One proposed use of a tool. ``args`` are canonical bytes; ``context`` holds reason, messages and title,
    unverified; ``asks_again`` is the approval that lapsed before the call could run; ``rehearsal``: nothing of it is
    ever sent; ``pinned`` is what it points to;
    ``revises`` is the approval by which changes of an earlier call were requested."""

    workspace_id: UUID
    subject: str
    chain: str
    agent: str
    requester_id: UUID | None
    tool: ToolFacts
    args: bytes
    context: dict[str, Any]
    asks_again: str = ""
    rehearsal: bool = False
    pinned: Pin | None = None
    revises: str = ""


@dataclass(frozen=True)
class Judgement:
    """What policy says of a proposal: allow, deny (with the reason the agent is told) or require_approval."""

    proposal: Proposal
    opinion: policies.Opinion

    @property
    def verdict(self) -> str:
        return self.opinion.verdict

    @property
    def reason(self) -> str:
        return self.opinion.reason


def admit(definition: dict[str, Any]) -> Admission:
    """Take a tool's definition in, with warnings where it is loose. Raises Inadmissible, naming the pointer and the
    rule."""
    return schemas.admit(definition)


def judge(proposal: Proposal) -> Judgement:
    """What would become of the proposal. Only reads, so that it can run before the transaction; never raises for a
    domain answer."""
    return Judgement(proposal, _opinion(proposal))


def _opinion(proposal: Proposal) -> policies.Opinion:
    version = policies.current_version(proposal.workspace_id)
    try:
        args = schemas.read_arguments(proposal.args)
    except canonical.Unrepresentable as fault:
        return policies.Opinion("deny", f"The arguments cannot be read: {fault}", version)
    faults = schemas.validate(proposal.tool.schema, args)
    if faults:
        faults = masking.hushed(faults, masking.now(proposal.workspace_id, proposal.tool.name))
        told = "; ".join(f"{fault.pointer or 'the arguments'}: {fault.message}" for fault in faults[:5])
        return policies.Opinion("deny", f"The arguments do not fit the tool's schema. {told}", version)
    if unfounded := requested.unfounded(proposal):
        return policies.Opinion("deny", unfounded, version)
    named = {"tool": proposal.tool.name, "agent": proposal.agent}
    opinion = policies.judge(proposal.workspace_id, **named, args=args, shadow=not proposal.rehearsal)
    if opinion.verdict != "require_approval" or opinion.rule is None:
        return opinion
    barred = [proposal.requester_id] if proposal.requester_id and opinion.rule["prevent_self_review"] else []
    if bars.satisfiable(proposal.workspace_id, opinion.rule, without=barred):
        return opinion
    reason = f"Rule {opinion.rule_id} needs more people than may decide it, so nobody could approve this call."
    return policies.Opinion("deny", reason, opinion.policy_version, opinion.rule)


def refuse(proposal: Proposal, reason: str) -> Judgement:
    """A proposal that the machine itself refuses, whatever policy says: its tool does not exist, or its row is not
    genuine."""
    return Judgement(proposal, policies.Opinion("deny", reason, policies.current_version(proposal.workspace_id)))


def hold(judgement: Judgement, *, checkpoint_mac: str = "", by: str = "system") -> Held:
    """Write what was judged: the ruling and, where people must say yes, the approval. Inside the step's `rows.within`.
    Judges again if the policy's version moved since."""
    proposal = judgement.proposal
    if policies.current_version(proposal.workspace_id) != judgement.opinion.policy_version:
        judgement = judge(proposal)
    if judgement.verdict != Ruling.Verdict.REQUIRE_APPROVAL:
        return _rule(judgement, checkpoint_mac, by)
    # A rehearsal uses nothing up, and people are asked in it as they always are.
    cover = None if proposal.rehearsal else granted.cover(granted.Sought.of(proposal), judgement.opinion, by=by)
    if cover is None and (why := "" if proposal.asks_again else floods.full(proposal.workspace_id, proposal.agent)):
        denied = replace(judgement.opinion, verdict=Ruling.Verdict.DENY.value, reason=why)
        return _rule(Judgement(proposal, denied), checkpoint_mac, by)
    if cover is None:
        return _ask(judgement, checkpoint_mac, by)
    allowed = replace(judgement.opinion, verdict=Ruling.Verdict.ALLOW.value, reason=cover.reason)
    return _rule(Judgement(proposal, allowed), checkpoint_mac, by, grant=cover.grant_id)


def _ask(judgement: Judgement, checkpoint_mac: str, by: str) -> Held:
    proposal, tool = judgement.proposal, judgement.proposal.tool
    question = questions.Question(
        subject=proposal.subject,
        chain=proposal.chain,
        agent=proposal.agent,
        requester_id=proposal.requester_id,
        tool=tool.name,
        tool_title=tool.title or tool.name,
        definition_digest=tool.definition_digest,
        schema=tool.schema,
        summary=tool.summary,
        effect=tool.effect,
        risk=_risk(judgement),
        args=proposal.args,
        context=proposal.context | ({"revises": proposal.revises} if proposal.revises else {}),
        opinion=judgement.opinion,
        response_schema=tool.response_schema,
        asked_again=rows.parse_id(Approval.PREFIX, proposal.asks_again) if proposal.asks_again else None,
        rehearsal=proposal.rehearsal,
        target=proposal.pinned.said if proposal.pinned else None,
    )
    approval = questions.open_approval(question, checkpoint_mac=checkpoint_mac, by=by)
    first = revisions.current_revision(approval)
    return Held(
        judgement.verdict, first.ruling.public_id, first.args_digest, None, approval.public_id, judgement.reason
    )


def _risk(judgement: Judgement) -> str:
    """The rule's own word, else what the tool's hints suggest: a hint may raise the care that is taken, never lower a
    rule's."""
    rule = judgement.opinion.rule or {}
    return rule.get("risk") or judgement.proposal.tool.risk or "medium"


def _rule(judgement: Judgement, checkpoint_mac: str, by: str, *, grant: str = "") -> Held:
    proposal, opinion = judgement.proposal, judgement.opinion
    header, digest = {}, ""
    under = {"grant": grant} if grant else {}
    if opinion.verdict == Ruling.Verdict.ALLOW:
        header = revisions.make_header(
            proposal.workspace_id,
            approval="",
            revision=1,
            definition=proposal.tool.definition_digest,
            expiry="",
            policy_version=opinion.policy_version,
            rule=opinion.rule_id,
            **({"rehearsal": True} if proposal.rehearsal else {}),
            **under,
        )
        digest = canonical.action_digest(header, proposal.args)
    ruling = rulings.write(
        args=proposal.args,
        subject=proposal.subject,
        chain=proposal.chain,
        verdict=opinion.verdict,
        reason=opinion.reason,
        tool=proposal.tool.name,
        agent=proposal.agent,
        definition_digest=proposal.tool.definition_digest,
        policy_version=opinion.policy_version,
        rule_id=opinion.rule_id,
        rule=opinion.rule or {},
        header=header,
        digest=digest,
        shadow=opinion.shadow,
    )
    body: dict[str, Any] = {"subject": proposal.subject, "verdict": opinion.verdict, "tool": proposal.tool.name}
    body |= {"rule": opinion.rule_id, **under}
    body |= {"shadow": True} if opinion.shadow else {}
    body |= {"policy_version": str(opinion.policy_version), "args_digest": ruling.args_digest, "digest": digest}
    entries.append(
        proposal.workspace_id, proposal.chain, "call.ruled", body | {"checkpoint_mac": checkpoint_mac}, by=by
    )
    return Held(opinion.verdict, ruling.public_id, ruling.args_digest, digest or None, None, opinion.reason)


def masked(workspace_id: UUID, chain: str) -> Masked:
    """For each tool of a chain's calls the pointers that policy masks in its arguments."""
    return masking.in_chain(workspace_id, chain)


def covered(tool: ToolFacts, args: Any) -> Any:
    """Arguments as every surface may show them: a secret stands as a mark that only names its place."""
    known = edits.Tool(tool.schema, money.hints(tool.summary), tool.masked)
    return canonical.parse(edits.raw_text(known, args), max_bytes=4 * canonical.MAX_BYTES)


# What became of it


def report(
    workspace_id: UUID, chain: str, subject: str, outcome: str, *, note: str = "", checkpoint_mac: str = ""
) -> None:
    """Say what became of a call: executed, failed or unknown. Inside the transaction of the result, before the run is
    locked."""
    approvals.report(workspace_id, chain, subject, outcome, note=note, checkpoint_mac=checkpoint_mac)


def withdraw(
    workspace_id: UUID, chain: str, *, by: str, person_id: UUID | None = None, reason: str, subject: str = ""
) -> int:
    """Cancel all that a chain still asks, or only what it asks about one subject. Before its run is touched: the lock
    order is approval, then run."""
    person = Person.objects.filter(pk=person_id).first() if person_id else None
    with rows.within(workspace_id):
        return approvals.cancel_open(workspace_id, chain, by=by, person=person, reason=reason, subject=subject)


def erase(workspace_id: UUID, chain: str) -> None:
    """Empty what was written about a chain's calls, in an open transaction and before its run is locked. Raises
    StillOpen."""
    erasure.erase(workspace_id, chain)


def expire_due(limit: int = 100) -> int:
    """End the approvals that are past their deadline. For the sweep."""
    return approvals.expire_due(limit)


def open_among(workspace_id: UUID, subjects: Iterable[str]) -> set[str]:
    """Those of the subjects about which people are still asked. For the sweep's repair."""
    asked = Approval.objects.filter(workspace_id=workspace_id, subject__in=list(subjects), status="pending")
    return set(asked.values_list("subject", flat=True))


def resolution(workspace_id: UUID, subject: str) -> Resolution | None:
    """How the approval of a subject ended, None while it is open. For the sweep's repair of a lost wake."""
    return approvals.resolution(workspace_id, subject)


# People


def may(person: Any, right: str, thing: models.Model) -> bool:
    """Whether the person holds the right on this thing now."""
    return people.may(person, right, thing)


def workspace_of(person: Any, slug: str) -> Workspace | None:
    """The workspace of this slug, if the person belongs to it."""
    return workspaces.entered(person, slug)


def workspaces_of(person: Any) -> list[Workspace]:
    """The workspaces that the person belongs to, by name."""
    return workspaces.of_person(person)


def workspace_named(slug: str) -> Workspace | None:
    """The workspace of this slug, for commands that an operator runs."""
    return workspaces.named(slug)


def only_workspace() -> Workspace | None:
    """The workspace, where there is only one: what a command means that names none."""
    return workspaces.only()


def person_named(email: str) -> Person | None:
    """The active person with this address, for commands that an operator runs."""
    return Person.objects.filter(email=email.lower(), is_active=True).first()


def names(keys: Iterable[UUID]) -> dict[UUID, str]:
    """The names of these people."""
    return people.names(set(keys))
