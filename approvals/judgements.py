"""Judgements: what policy says of a proposal, and what is written of it when the agent's step is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from approvals import bars, floods, granted, masking, policies, questions, requested, revisions, rows, rulings, schemas
from approvals.approvals import Approval
from approvals.asked import Held
from approvals.ledger import canonical, entries
from approvals.proposals import Proposal
from approvals.rulings import Ruling


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
