"""Granting: how somebody who may decide asks for a standing grant, within what the rule allows beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from approvals import asked, bars, policies, policy_documents, policy_words, questions, revisions, rows
from approvals.approvals import Approval
from approvals.grants import SCHEMA, Grant, Terms, instant
from approvals.ledger import canonical, entries
from approvals.people import Person
from approvals.policy_text import PolicyFault
from approvals.resolutions import OF_THE_WORKSPACE
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

SUMMARY: Final = "Let {/agent} use {/tool} without asking, {/uses} times at most"


@dataclass(frozen=True)
class Wish:
    """What is asked for; what is None or empty is as the rule allows at most. ``pattern`` is a JSON Schema, without one
    only exactly the same arguments are meant; ``sum_at_most`` is in the unit of the argument that the rule names."""

    lasts: int | str | None = None
    uses: int | None = None
    sum_at_most: int | None = None
    pattern: Mapping[str, Any] | None = None


def ask(workspace_id: UUID, seen: Approval, wish: Wish, *, by: Person) -> Approval | Refused:
    """Open the approval of a standing grant for calls like the one that was seen. Those who decide such calls decide
    it, in the same number; whoever asks has still to say yes."""
    with rows.within(workspace_id):
        opinion = _opinion(seen)
        if isinstance(opinion, Refused):
            return opinion
        rule = opinion.rule or {}
        if by.pk not in bars.eligible(workspace_id, rule).own:
            return Refused("not_allowed", f"Only who may decide under rule {rule['id']} may ask for a standing grant.")
        terms = _terms(seen, wish, rule)
        return terms if isinstance(terms, Refused) else _open(seen, terms, opinion, by)


def _opinion(seen: Approval) -> policies.Opinion | Refused:
    """What policy says today of the call that was seen."""
    if seen.kind != Approval.Kind.CALL:
        return Refused("no_call", "A standing grant is given for calls, and this is none.")
    if seen.rehearsal:
        return Refused("rehearsal", "This was a rehearsal: nothing that comes of it is ever sent.")
    try:
        args = canonical.parse(revisions.args_of(revisions.current_revision(seen)))
        genuine = seen.holds()
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    if not genuine:
        return Refused("tampered", "What was asked is not as it was written.")
    opinion = policies.judge(seen.workspace_id, tool=seen.tool, agent=seen.agent, args=args)
    if opinion.verdict != "require_approval" or opinion.rule is None:
        return Refused("no_standing", f"Policy does not ask people about such a call: it says {opinion.verdict}.")
    if "standing" not in opinion.rule or "hold_after" in opinion.rule:
        return Refused("no_standing", f"Rule {opinion.rule_id} lets nobody say yes beforehand.")
    return opinion


def _terms(seen: Approval, wish: Wish, rule: Mapping[str, Any]) -> Terms | Refused:
    limits = rule["standing"]
    try:
        lasts = policy_words.seconds(wish.lasts) if wish.lasts is not None else limits["for"]
        if wish.pattern is not None:
            policy_documents.check_condition("pattern", dict(wish.pattern), "")
    except PolicyFault as fault:
        return Refused("invalid_grant", f"{fault.pointer} {fault.message}".strip(), pointer=fault.pointer)
    uses, limit = limits["uses"] if wish.uses is None else wish.uses, limits.get("sum")
    if lasts > limits["for"] or not 0 < uses <= limits["uses"]:
        told = f"Rule {rule['id']} allows {limits['uses']} calls within {limits['for']} seconds at most."
        return Refused("beyond_rule", told)
    if wish.sum_at_most is not None and not (limit and 0 < wish.sum_at_most <= limit["at_most"]):
        told = f"{limit['at_most']} of {limit['of']} at most" if limit else "no sum"
        return Refused("beyond_rule", f"Rule {rule['id']} allows {told}.")
    return _fitting(seen, _written(seen, wish, rule, lasts, uses))


def _written(seen: Approval, wish: Wish, rule: Mapping[str, Any], lasts: int, uses: int) -> Terms:
    args, limit = revisions.args_of(revisions.current_revision(seen)), rule["standing"].get("sum")
    most = wish.sum_at_most or (limit["at_most"] if limit else 0)
    return Terms(
        tool=seen.tool,
        agent=seen.agent,
        definition=seen.definition_digest,
        rule=rule["id"],
        like=seen.public_id,
        until=instant(rows.now() + timedelta(seconds=lasts)),
        uses=uses,
        exactly="" if wish.pattern is not None else canonical.sha256_hex(args),
        pattern=wish.pattern,
        **({"sum_of": limit["of"], "sum_at_most": most} if limit else {}),
    )


def _fitting(seen: Approval, terms: Terms) -> Terms | Refused:
    """The terms, if the call that was seen is one of those they cover."""
    args = revisions.args_of(revisions.current_revision(seen))
    amount = terms.amount(canonical.parse(args))
    if not terms.fit(args):
        return Refused("invalid_grant", "The pattern does not fit the call that was seen.")
    if amount is None or amount > terms.sum_at_most:
        return Refused("invalid_grant", f"What the call that was seen has at {terms.sum_of} is beyond the sum.")
    return terms


def _open(seen: Approval, terms: Terms, opinion: policies.Opinion, by: Person) -> Approval:
    rule = dict(opinion.rule or {})
    rule |= {"allowed_decisions": ["approve", "reject"], "editable": None, "on_deadline": "return_expired"}
    rule.pop("escalate", None)  # it ends with its own deadline, and so do its reminders
    rule.pop("remind_after", None)
    rule["deadline"] = min(rule["deadline"], rule["standing"]["for"])
    key, encoded = rows.uuid7(), terms.encoded()
    question = questions.Question(
        subject=rows.public_id(Grant.PREFIX, key),
        chain=OF_THE_WORKSPACE,
        agent=seen.agent,
        requester_id=seen.requester_id,
        tool="grant",
        tool_title=f"Standing grant for {seen.tool_title}"[:200],
        definition_digest=asked.definition_digest("grant", SCHEMA, {}),
        schema=SCHEMA,
        summary=SUMMARY,
        effect="none",
        risk=seen.risk,
        args=encoded,
        context={"reason": "", "messages": [], "title": ""},
        opinion=policies.Opinion(opinion.verdict, opinion.reason, opinion.policy_version, rule),
        kind=Approval.Kind.GRANT.value,
    )
    approval = questions.open_approval(question, checkpoint_mac="", by=by.public_id)
    _index(key, approval, terms, by)
    return approval


def _index(key: UUID, approval: Approval, terms: Terms, by: Person) -> None:
    grant = Grant(
        pk=key,
        workspace_id=approval.workspace_id,
        approval=approval,
        tool=terms.tool,
        agent=terms.agent,
        definition_digest=terms.definition,
        digest=revisions.current_revision(approval).digest,
        until=terms.until,
    )
    grant.save(force_insert=True)
    body = {"grant": grant.public_id, "approval": approval.public_id, "tool": terms.tool, "agent": terms.agent}
    body |= {"definition": terms.definition, "until": terms.until, "digest": grant.digest}
    entries.append(approval.workspace_id, OF_THE_WORKSPACE, "grant.asked", body, by=by.public_id)
