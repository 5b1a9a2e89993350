"""Decisions: `decide` is the only door for a verdict, whatever the channel; what stands here is all that lets a call
run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import models

from approvals import approvals, edits, policies, revisions, rows, schemas
from approvals.approvals import Approval
from approvals.ledger import canonical, keys, sealing
from approvals.people import Person
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
from approvals.schemas import Fault
from approvals.votes import Ballot, ballot, too_late
from approvals.votes import Refused as Refused
from approvals.votes import Standing as Standing
from approvals.votes import standing as standing

MESSAGE_MAX = 4000
"""The longest comment, in characters."""


class Decision(rows.Row):
    """What one person said of one revision. Rows are only added; a person's last turn on a revision is the one that
    counts."""

    PREFIX = "dec"
    WRITE_ONCE = True

    class Verdict(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"
        EDIT = "edit"

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="decisions")
    revision = models.PositiveIntegerField()
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    turn = models.PositiveIntegerField()
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    digest = models.CharField(max_length=64)
    message = models.BinaryField()
    message_digest = models.CharField(max_length=64)
    decided_via = models.CharField(max_length=8)
    decided_at = models.DateTimeField()
    mac = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "revision", "person", "turn"], name="one_decision_a_turn"),
        ]

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("decision", canonical.encode(_signed(self)), self.mac)


def _signed(decision: Decision) -> dict[str, Any]:
    named = ("revision", "turn", "verdict", "digest", "message_digest", "decided_via")
    return {
        "id": decision.pk.hex,
        "workspace": decision.workspace_id.hex,
        "approval": decision.approval_id.hex,
        "person": decision.person_id.hex,
        "decided_at": revisions.instant(decision.decided_at),
        **{name: getattr(decision, name) for name in named},
    }


def message_of(decision: Decision) -> str:
    """The comment given with a decision. Raises Tampered."""
    clear = sealing.unseal(decision.workspace_id, decision.message, place=_place(decision.pk))
    return clear.decode()


def _place(key: UUID) -> str:
    return f"approvals_decision.message:{key.hex}"


# Answers


@dataclass(frozen=True)
class Decided:
    """The verdict was taken: where the approval stands now. ``status`` is still pending while more people are
    needed."""

    status: str
    revision: int
    votes: int
    required: int


# Questions


def decisions_of(approval: Approval) -> list[Decision]:
    """Every decision on every revision, in the order they were made, with the person."""
    return list(approval.decisions.select_related("person").order_by("decided_at", "turn"))


# The verb


@dataclass(frozen=True)
class Attempt:
    """One verdict as a person gave it, through whatever channel."""

    by: Person
    verdict: str
    revision: int
    digest: str
    via: str
    message: str
    edited: bytes | None


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
) -> Decided | Refused:
    """Take one person's verdict on one revision, named by its number and digest, or say why not.

    ``verdict`` is approve, reject or edit; ``edited`` are the arguments as JSON text, needed for edit alone; ``via``
    is the channel; a rejection needs a ``message``. Never raises for a domain answer, so that refused attempts are in
    the ledger too.
    """
    attempt = Attempt(by, verdict, revision, digest, via, message.strip(), edited)
    with rows.within(workspace_id):
        return _lock_and_judge(workspace_id, approval_id, attempt)


def _lock_and_judge(workspace_id: UUID, approval_id: UUID, attempt: Attempt) -> Decided | Refused:
    # The lock comes first: counting before locking leaves two last votes in and the approval pending.
    pending = Approval.objects.filter(
        workspace_id=workspace_id,
        pk=approval_id,
        status="pending",
        revision=attempt.revision,
        expires_at__gt=rows.Now(),
    )
    locked = pending.update(touched=models.F("touched") + 1)
    approval = Approval.objects.select_related("decided_by").filter(workspace_id=workspace_id, pk=approval_id).first()
    if approval is None:
        return Refused("not_found", "There is no such approval.")
    answer = _judge(approval, attempt) if locked else _missed(approval, attempt)
    if isinstance(answer, Refused):
        body = {"verdict": attempt.verdict[:12], "code": answer.code, "seen": attempt.revision, "via": attempt.via}
        approvals.record(approval, "decision.refused", body | {"digest": attempt.digest[:64]}, by=attempt.by.public_id)
    return answer


def _missed(approval: Approval, attempt: Attempt) -> Refused:
    """Why the lock found nothing: settled, edited meanwhile, or past its deadline though the sweep has not said so
    yet."""
    if approval.status != Approval.Status.PENDING:
        return too_late(approval)
    if approval.revision != attempt.revision:
        return Refused(
            "stale_revision", f"It was edited while you read: revision {approval.revision} is the one to decide."
        )
    return Refused("too_late", f"It expired at {approval.expires_at:%H:%M:%S} UTC; nobody decided in time.")


def _judge(approval: Approval, attempt: Attempt) -> Decided | Refused:
    try:
        vote = ballot(approval, revisions.current_revision(approval))
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    if attempt.verdict not in Decision.Verdict.values:
        return Refused("unknown_verdict", "A verdict is approve, reject or edit.", pointer="/verdict")
    refusal = vote.refusal(attempt.by, attempt.verdict) or _badly_put(vote.revision, attempt)
    if refusal:
        return refusal
    verbs = {"approve": _approve, "reject": _reject, "edit": _edit}
    return verbs[attempt.verdict](vote, attempt)


def _badly_put(revision: Revision, attempt: Attempt) -> Refused | None:
    if attempt.digest != revision.digest:
        return Refused("wrong_digest", "What you saw is not what would run; read it again.", pointer="/digest")
    if len(attempt.message) > MESSAGE_MAX:
        return Refused("message_too_long", f"A comment has at most {MESSAGE_MAX} characters.", pointer="/message")
    if "\x00" in attempt.message or any("\ud800" <= char <= "\udfff" for char in attempt.message):
        return Refused("message_not_text", "A comment cannot hold U+0000 or half a surrogate pair.", pointer="/message")
    if attempt.verdict == "reject" and not attempt.message:
        return Refused("needs_message", "Say why: the agent is told your reason.", pointer="/message")
    return None


def _write(approval: Approval, revision: Revision, attempt: Attempt, verdict: str) -> Decision:
    """Insert the decision and record it; the message itself stays outside the ledger, only its digest goes in."""
    turn = Decision.objects.filter(approval=approval, revision=revision.number, person=attempt.by).count() + 1
    decision = Decision(
        workspace_id=approval.workspace_id,
        approval=approval,
        revision=revision.number,
        person=attempt.by,
        turn=turn,
        verdict=verdict,
        digest=revision.digest,
        message_digest=canonical.sha256_hex(attempt.message.encode()),
        decided_via=attempt.via,
        decided_at=rows.now(),
    )
    decision.message = sealing.seal(decision.workspace_id, attempt.message.encode(), place=_place(decision.pk))
    decision.mac = keys.sign("decision", canonical.encode(_signed(decision)))
    decision.save(force_insert=True)
    body = {
        "verdict": verdict,
        "turn": turn,
        "digest": revision.digest,
        "via": attempt.via,
        "revision": revision.number,
    }
    body["message_digest"] = decision.message_digest
    approvals.record(approval, "decision.made", body, by=attempt.by.public_id)
    rows.publish(approval.workspace_id, approval.public_id)
    return decision


def _reject(vote: Ballot, attempt: Attempt) -> Decided:
    approval = vote.approval
    _write(approval, vote.revision, attempt, "reject")
    approvals.settle(
        approval, Approval.Status.REJECTED, by=attempt.by.public_id, person=attempt.by, message=attempt.message
    )
    return Decided(approval.status, vote.revision.number, 0, approval.required)


def _approve(vote: Ballot, attempt: Attempt) -> Decided:
    approval = vote.approval
    yes = _write(approval, vote.revision, attempt, "approve")
    vote = replace(vote, yeses=[*vote.yeses, yes])
    if vote.filled == vote.needed:
        approvals.settle(
            approval, Approval.Status.APPROVED, by=attempt.by.public_id, person=attempt.by, message=attempt.message
        )
    return Decided(approval.status, vote.revision.number, vote.filled, vote.needed)


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
    if faults:
        return Refused("invalid_edit", f"{faults[0].pointer}: {faults[0].message}", faults, faults[0].pointer)
    if edits.same(before, edited):
        # An edit that changes nothing is a plain approval, and is recorded so.
        return vote.refusal(attempt.by, "approve") or _approve(vote, attempt)
    raised = _bar_after(vote, edited, attempt.by)
    if isinstance(raised, Refused):
        return raised
    return _open_revision(vote, raised, canonical.encode(edited), attempt)


def _bar_after(vote: Ballot, edited: Any, editor: Person) -> dict[str, Any] | Refused:
    """The rule that the edited call has to meet: never a lower bar than before, a higher one where policy asks for
    it."""
    approval, rule = vote.approval, vote.rule
    opinion = policies.judge(approval.workspace_id, tool=approval.tool, agent=approval.agent, args=edited)
    if opinion.verdict == "deny":
        return Refused("policy_refuses", f"Policy refuses the call as you edited it: {opinion.reason}")
    merged = policies.stricter(rule, opinion.rule) if opinion.verdict == "require_approval" and opinion.rule else rule
    barred = {approval.requester_id} if merged["prevent_self_review"] else set()
    if not merged["editor_may_approve"]:
        barred.add(editor.pk)
    if not policies.satisfiable(approval.workspace_id, merged, without={key for key in barred if key}):
        needed = len(policies.seats(merged))
        return Refused(
            "unsatisfiable", f"After your edit {needed} others would have to approve, and fewer are left to do so."
        )
    return merged


def _open_revision(vote: Ballot, rule: dict[str, Any], args: bytes, attempt: Attempt) -> Decided:
    approval, old = vote.approval, vote.revision
    _write(approval, old, attempt, "edit")
    version = policies.current_version(approval.workspace_id)
    new = revisions.add_revision(approval, args, rule, number=old.number + 1, editor=attempt.by, policy_version=version)
    approvals.raise_bar(approval, rule, revision=new.number, policy_version=version)
    body = {"digest": new.digest, "rule": rule["id"], "voided": [yes.person.public_id for yes in vote.yeses]}
    approvals.record(approval, "approval.revised", body, by=attempt.by.public_id)
    fresh = ballot(approval, new)
    if rule["editor_may_approve"] and "approve" in rule["allowed_decisions"]:
        return _approve(fresh, attempt)
    return Decided(approval.status, new.number, 0, fresh.needed)
