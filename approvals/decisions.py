"""Decisions: `decide` is the only door for a verdict, whatever the channel; what stands here is all that lets a call
run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from approvals import (
    answers,
    approvals,
    asked,
    bars,
    chronicle,
    comments,
    deputies,
    edits,
    expiry,
    floods,
    glass,
    halts,
    masking,
    people,
    pins,
    policies,
    previews,
    requested,
    revisions,
    rows,
    schemas,
    stops,
    turns,
    vouched,
    words,
)
from approvals.answers import Decided as Decided
from approvals.approvals import Approval
from approvals.assurance import CLICK, Assurance
from approvals.edits import patch
from approvals.ledger import canonical
from approvals.people import Person
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN, Forged
from approvals.said import Attempt, write
from approvals.said import Decision as Decision
from approvals.said import message_of as message_of
from approvals.schemas import Fault
from approvals.standings import Standing as Standing
from approvals.standings import standing as standing
from approvals.votes import Ballot, asks_more, ballot, too_late
from approvals.votes import Refused as Refused

DIGEST = re.compile("[0-9a-f]{64}")


# Questions


def decisions_of(approval: Approval) -> list[Decision]:
    """Every decision on every revision, in the order they were made, with the person."""
    return list(approval.decisions.select_related("person", "in_place_of").order_by("decided_at", "turn"))


# The verb


def decide(
    workspace_id: UUID,
    approval_id: UUID,
    *,
    by: Person,
    verdict: str,
    revision: int,
    digest: str,
    via: str,
    message: str = "",
    edited: bytes | None = None,
    response: bytes | None = None,
    choice: str = "",
    assurance: Assurance = CLICK,
    changes: Iterable[tuple[str, str]] | None = None,
) -> Decided | Refused:
    """Take one person's verdict on one revision, named by its number and digest, or say why not.

    ``verdict`` is approve, reject, edit, respond, choose, retract (one's own vote, before the last one is given), or
    stop, of what was approved and not sent; ``edited`` is the value as JSON text, needed for edit alone, ``response``
    the JSON text of an answer, needed for respond alone, or in its place ``changes``, pointers of fields with what
    should be otherwise; ``choice`` an option, needed for choose alone; ``via`` is the channel, ``assurance`` how sure
    it is that this is the person; a rejection needs a ``message``, and so does what the rule names. Never raises for a
    domain answer, so that refused attempts are in the ledger too.
    """
    attempt = Attempt(by, verdict, revision, digest, via, words.spoken(message), edited, response, choice, assurance)
    if changes is not None:
        attempt = replace(attempt, changes=requested.made(changes))
    with rows.within(workspace_id):
        return _lock_and_judge(workspace_id, approval_id, attempt)


def _lock_and_judge(workspace_id: UUID, approval_id: UUID, attempt: Attempt) -> Decided | Refused:
    # The lock comes first: counting before locking leaves two last votes in and the approval pending.
    named = {"workspace": workspace_id, "approval": approval_id}
    locked = (_APPROVED if attempt.verdict == "stop" else _OPEN).first(**named, revision=attempt.revision)
    approval = locked or Approval.objects.filter(workspace_id=workspace_id, pk=approval_id).first()
    if approval is None:
        return Refused("not_found", "There is no such approval.")
    answer = _judge(approval, attempt) if locked else _missed(approval, attempt)
    if isinstance(answer, Refused):
        # What was sent may be anything, and the entry has to be written whatever it was.
        verdict = attempt.verdict if attempt.verdict in Decision.Verdict.values else "unknown"
        digest = attempt.digest if DIGEST.fullmatch(attempt.digest) else ""
        body = {"verdict": verdict, "code": answer.code, "seen": attempt.revision, "via": attempt.via}
        approvals.record(approval, "decision.refused", body | {"digest": digest}, by=attempt.by.public_id)
    return answer


_OPEN = rows.Ready(
    lambda: Approval.objects.select_for_update(no_key=True).filter(
        expiry.decidable(rows.Now()),
        workspace_id=rows.Slot("workspace"),
        pk=rows.Slot("approval"),
        revision=rows.Slot("revision"),
    )
)


# What may still be stopped
_APPROVED = rows.Ready(
    lambda: Approval.objects.select_for_update(no_key=True).filter(
        workspace_id=rows.Slot("workspace"),
        pk=rows.Slot("approval"),
        revision=rows.Slot("revision"),
        status=Approval.Status.APPROVED,
    )
)


def _missed(approval: Approval, attempt: Attempt) -> Refused:
    """Why the lock found nothing: settled, edited meanwhile, or past its deadline though the sweep has not said so
    yet."""
    if approval.status != Approval.Status.PENDING or attempt.verdict == "stop":
        return too_late(approval)
    if halt := halts.of(approval):
        return Refused("halted", f"{halt.told} Nothing is decided until it goes on, and no deadline runs.")
    if attempt.revision > approval.revision:
        return Refused("stale_revision", f"There is no such revision yet: {approval.revision} is the one to decide.")
    if approval.revision != attempt.revision:
        return Refused(
            "stale_revision", f"It was edited while you read: revision {approval.revision} is the one to decide."
        )
    return Refused("too_late", f"It expired at {approval.ends_at:%H:%M:%S} UTC; nobody decided in time.")


def _judge(approval: Approval, attempt: Attempt) -> Decided | Refused:
    try:
        vote = ballot(approval, revisions.current_revision(approval))
        _check_kind(vote)
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    if attempt.verdict not in Decision.Verdict.values:
        return Refused(
            "unknown_verdict",
            "A verdict is approve, edit, reject, respond, choose, retract or stop.",
            pointer="/verdict",
        )
    if refusal := _refusal(vote, attempt) or _not_as_told(vote, attempt.by):
        return refusal
    verbs = {"approve": _approve, "reject": _reject, "edit": _edit}
    verbs |= {"respond": answers.respond, "choose": answers.choose, "stop": stops.stop, "retract": turns.retract}
    verbs |= {"override": glass.override}
    if attempt.changes is not None:
        return requested.request(vote, attempt)
    return verbs[attempt.verdict](vote, attempt)


def _refusal(vote: Ballot, attempt: Attempt) -> Refused | None:
    if attempt.verdict == glass.VERDICT:
        return _badly_put(vote.revision, attempt) or glass.refusal(vote, attempt)
    refusal = vote.refusal(attempt.by, attempt.verdict) or _badly_put(vote.revision, attempt)
    return refusal or asks_more(vote.rule, attempt, attempt.verdict) or floods.too_fast(vote, attempt)


def _not_as_told(vote: Ballot, person: Person) -> Refused | None:
    """Asked last, and under the lock: what was read is what the ledger tells, and it gave this person their right."""
    workspace_id, lent = vote.approval.workspace_id, vote.in_place_of(person.pk)
    holders: people.Able = {person.pk: {} if lent else vote.able.own.get(person.pk, {})}
    holders |= {lent.lender: dict(lent.seats)} if lent else {}
    try:
        chronicle.of(vote.approval).check(vote)
        if vouched.unexplained_among(workspace_id, holders):
            return Refused("tampered", "By no entry of the ledger may you decide this.")
        if lent and deputies.unexplained_among(workspace_id, [lent.absence]):
            return Refused("tampered", "By no entry of the ledger was this seat lent to you.")
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    return None


def _check_kind(vote: Ballot) -> None:
    """That kind and schemas are those that were signed when the approval opened. Raises Forged."""
    approval, ruling = vote.approval, vote.revision.ruling
    if ruling.header.get("kind", Approval.Kind.CALL) != approval.kind:
        raise Forged("The approval is not of the kind that was asked.")
    if bool(ruling.header.get("rehearsal")) != approval.rehearsal:
        raise Forged("By its signed header it is a rehearsal, or is none, and the row says otherwise.")
    if approval.kind != Approval.Kind.CALL:
        held_to = asked.definition_digest(approval.kind, approval.schema, approval.response_schema)
        if held_to != ruling.definition_digest:
            raise Forged("The schema is not the one that was asked with.")


def _badly_put(revision: Revision, attempt: Attempt) -> Refused | None:
    if attempt.changes is not None and (attempt.verdict != "respond" or attempt.response is not None):
        told = "Changes are requested by the verdict respond, and stand in the place of a response."
        return Refused("invalid_changes", told, pointer="/requested_changes")
    if attempt.digest != revision.digest:
        return Refused("wrong_digest", "What you saw is not what would run; read it again.", pointer="/digest")
    return comments.unfit(attempt.message)


def _reject(vote: Ballot, attempt: Attempt) -> Decided:
    approval = vote.approval
    write(vote, attempt, "reject")
    approvals.settle(approval, Approval.Status.REJECTED, **_ended(vote, attempt))
    return Decided(approval.status, vote.revision.number, 0, approval.required)


def _approve(vote: Ballot, attempt: Attempt) -> Decided:
    approval = vote.approval
    yes = write(vote, attempt, "approve")
    vote = replace(vote, yeses=[*vote.yeses, yes])
    if vote.filled == vote.needed:
        approvals.settle(approval, Approval.Status.APPROVED, **_ended(vote, attempt))
    return Decided(approval.status, vote.revision.number, vote.filled, vote.needed)


def _ended(vote: Ballot, attempt: Attempt) -> dict[str, Any]:
    by = {"by": attempt.by.public_id, "person": attempt.by}
    return by | {"message": attempt.message, "voted_on": vote.revision}


def _edit(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    """Open a new revision with the edited bytes: earlier votes stop counting, and policy judges the new bytes."""
    try:
        edited = schemas.read_arguments(attempt.edited or b"")
    except canonical.Unrepresentable as fault:
        return Refused("invalid_edit", str(fault), (Fault(fault.pointer, fault.rule, fault.message),), fault.pointer)
    try:
        before = canonical.parse(revisions.args_of(vote.revision))
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    faults = edits.check(before, edited, vote.approval.schema, editable=vote.rule["editable"])
    faults = faults or pins.moved(vote.revision.ruling.header, before, edited)
    if faults:
        faults = masking.hushed(faults, masking.unseen(vote.approval, before, edited))
        return Refused("invalid_edit", f"{faults[0].pointer}: {faults[0].message}", faults, faults[0].pointer)
    if edits.same(before, edited):
        # An edit that changes nothing is a plain approval, and is recorded so.
        return _refusal_of_yes(vote, attempt) or _approve(vote, attempt)
    raised = _bar_after(vote, edited, attempt.by)
    if isinstance(raised, Refused):
        return raised
    if refusal := _refusal_under(raised, attempt):
        return refusal
    return _open_revision(vote, raised, canonical.encode(edited), attempt, patch.encode(patch.made(before, edited)))


def _refusal_of_yes(vote: Ballot, attempt: Attempt) -> Refused | None:
    return vote.refusal(attempt.by, "approve") or asks_more(vote.rule, attempt, "approve")


def _refusal_under(raised: dict[str, Any], attempt: Attempt) -> Refused | None:
    """What the rule that the edited call has to meet asks of the edit, and of the yes that it is."""
    is_yes = raised["editor_may_approve"] and "approve" in raised["allowed_decisions"]
    return asks_more(raised, attempt, "edit") or (asks_more(raised, attempt, "approve") if is_yes else None)


def _bar_after(vote: Ballot, edited: Any, editor: Person) -> dict[str, Any] | Refused:
    """The rule that the edited call has to meet: never a lower bar than before, a higher one where policy asks for
    it."""
    approval, rule = vote.approval, vote.rule
    if approval.kind != Approval.Kind.CALL:
        return rule
    opinion = policies.judge(approval.workspace_id, tool=approval.tool, agent=approval.agent, args=edited)
    if opinion.verdict == "deny":
        return Refused("policy_refuses", f"Policy refuses the call as you edited it: {opinion.reason}")
    merged = bars.stricter(rule, opinion.asking) if opinion.asking else rule
    barred = {approval.requester_id} if merged["prevent_self_review"] else set()
    if not merged["editor_may_approve"]:
        barred |= {editor.pk, *vote.editors}
    if not bars.leaves_a_yes(merged):
        return Refused("unsatisfiable", f"After your edit rule {merged['id']} asks too, and nobody could say yes.")
    if not bars.satisfiable(approval.workspace_id, merged, without={key for key in barred if key}):
        told = f"After your edit {len(bars.seats(merged))} others would have to approve, and fewer are left to do so."
        return Refused("unsatisfiable", told)
    return merged


def _open_revision(vote: Ballot, rule: dict[str, Any], args: bytes, attempt: Attempt, changed: bytes) -> Decided:
    approval, old = vote.approval, vote.revision
    write(vote, attempt, "edit", patch=changed)
    version = policies.current_version(approval.workspace_id)
    new = revisions.add_revision(
        approval,
        args,
        rule,
        number=old.number + 1,
        editor=attempt.by,
        policy_version=version,
        target=old.ruling.header.get("target"),
    )
    approvals.raise_bar(approval, rule, revision=new.number, policy_version=version)
    body = {"digest": new.digest, "rule": rule["id"], "voided": [yes.person.public_id for yes in vote.yeses]}
    approvals.record(approval, "approval.revised", body, by=attempt.by.public_id)
    previews.follow(approval)
    fresh = ballot(approval, new)
    # The rule that asks now may be another: it is no yes of somebody who could not give one under it.
    if rule["editor_may_approve"] and fresh.refusal(attempt.by, "approve") is None:
        return _approve(fresh, attempt)
    return Decided(approval.status, new.number, 0, fresh.needed)
