"""Said: what one person said of one revision, as they tried to and as it is kept, sealed and signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models

from approvals import approvals, revisions, rows
from approvals.approvals import Approval
from approvals.assurance import CLICK, Assurance
from approvals.ledger import canonical, keys, sealing
from approvals.people import Person
from approvals.revisions import Revision

if TYPE_CHECKING:
    from approvals.requested import Change
    from approvals.votes import Ballot


class Decision(rows.Row):
    """What one person said of one revision. Rows are only added; a person's last turn on a revision is the one that
    counts."""

    PREFIX = "dec"
    WRITE_ONCE = True
    EXCEPTIONS = ("UPDATE (message, response, patch)",)

    class Verdict(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"
        EDIT = "edit"
        RESPOND = "respond"
        CHOOSE = "choose"
        STOP = "stop"
        RETRACT = "retract"
        OVERRIDE = "override"

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="decisions")
    revision = models.PositiveIntegerField()
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    in_place_of = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    """Whose seat it takes, where the person speaks as a deputy."""
    turn = models.PositiveIntegerField()
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    digest = models.CharField(max_length=64)
    message = models.BinaryField()
    message_digest = models.CharField(max_length=64)
    response = models.BinaryField(default=b"")
    response_digest = models.CharField(max_length=64, blank=True)
    patch = models.BinaryField(default=b"")
    patch_digest = models.CharField(max_length=64, blank=True)
    choice = models.CharField(max_length=40, blank=True)
    decided_via = models.CharField(max_length=8)
    assurance = models.CharField(max_length=8, blank=True)
    methods = models.CharField(max_length=80, blank=True)
    decided_at = models.DateTimeField()
    mac = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "revision", "person", "turn"], name="one_decision_a_turn"),
        ]
        indexes = [models.Index(fields=["workspace", "-decided_at"], name="decisions_by_time")]

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("decision", canonical.encode(_signed(self)), self.mac)

    @property
    def with_assurance(self) -> Assurance:
        """How sure it was that the person gave it."""
        level: Any = self.assurance or CLICK.level
        return Assurance(level, tuple(self.methods.split()))

    def clear_message(self) -> str:
        """The comment given with it. Raises Tampered."""
        return sealing.unseal(self.workspace_id, self.message, place=_place(self.pk, "message")).decode()

    def kept_message(self) -> str:
        """The same, or nothing where it was erased. Raises Tampered."""
        try:
            return self.clear_message()
        except sealing.Erased:
            return ""

    def clear_response(self) -> bytes:
        """What was answered, as canonical JSON. Raises Tampered when it is not what was signed."""
        clear = sealing.unseal(self.workspace_id, self.response, place=_place(self.pk, "response"))
        if canonical.sha256_hex(clear) != self.response_digest:
            raise sealing.Tampered("The answer is not the one that was given.")
        return clear

    def clear_patch(self) -> bytes:
        """What an edit changed, as JSON Patch; edits of old have none. Raises Tampered when it is not what was
        signed."""
        clear = sealing.unseal(self.workspace_id, self.patch, place=_place(self.pk, "patch"))
        if canonical.sha256_hex(clear) != self.patch_digest:
            raise sealing.Tampered("The edit is not the one that was made.")
        return clear


def _signed(decision: Decision) -> dict[str, Any]:
    named = ["revision", "turn", "verdict", "digest", "message_digest", "decided_via"]
    # Only where they say something, so that what was signed before there were any still holds.
    named += [name for name in _SOMETIMES if getattr(decision, name)]
    return {
        "id": decision.pk.hex,
        "workspace": decision.workspace_id.hex,
        "approval": decision.approval_id.hex,
        "person": decision.person_id.hex,
        "decided_at": revisions.instant(decision.decided_at),
        **({"in_place_of": decision.in_place_of_id.hex} if decision.in_place_of_id else {}),
        **{name: getattr(decision, name) for name in named},
    }


_SOMETIMES = ("response_digest", "patch_digest", "choice", "assurance", "methods")


def message_of(decision: Decision) -> str:
    """The comment given with a decision; nothing where it was erased. Raises Tampered."""
    return decision.kept_message()


def _place(key: UUID, column: str) -> str:
    return f"approvals_decision.{column}:{key.hex}"


def _sealed(decision: Decision, column: str, clear: bytes) -> bytes:
    return sealing.seal(decision.workspace_id, clear, place=_place(decision.pk, column))


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
    edited: bytes | None = None
    response: bytes | None = None
    choice: str = ""
    assurance: Assurance = CLICK
    changes: tuple[Change, ...] | None = None


def on_revision(approval: Approval, revision: Revision) -> list[Decision]:
    """What was said of a revision, a person's turns in their order, each with the person."""
    return _ON(approval=approval.pk, revision=revision.number)


_ON = rows.Ready(
    lambda: (
        Decision.objects.select_related("person", "in_place_of")
        .filter(approval_id=rows.Slot("approval"), revision=rows.Slot("revision"))
        .order_by("turn")
    )
)


def write(vote: Ballot, attempt: Attempt, verdict: str, *, patch: bytes = b"") -> Decision:
    """Insert the decision and record it; what was said itself stays outside the ledger, only its digests go in.

    ``patch`` is what an edit changes, as JSON Patch."""
    lent = vote.in_place_of(attempt.by.pk)
    decision = _made(vote, attempt, verdict, lent.absence.person if lent else None)
    if verdict == "respond" and attempt.response is not None:
        decision.response_digest = canonical.sha256_hex(attempt.response)
        decision.response = _sealed(decision, "response", attempt.response)
    if patch:
        decision.patch_digest = canonical.sha256_hex(patch)
        decision.patch = _sealed(decision, "patch", patch)
    decision.mac = keys.sign("decision", canonical.encode(_signed(decision)))
    rows.insert(decision)
    body = {
        "verdict": verdict,
        "turn": decision.turn,
        "digest": decision.digest,
        "via": attempt.via,
        "revision": decision.revision,
        "message_digest": decision.message_digest,
    }
    if lent:
        body |= {"in_place_of": lent.absence.person.public_id, "absence": lent.absence.public_id}
    body |= {name: said for name in _SOMETIMES if (said := getattr(decision, name))}
    approvals.record(vote.approval, "decision.made", body, by=attempt.by.public_id)
    rows.publish(decision.workspace_id, vote.approval.public_id)
    return decision


def _made(vote: Ballot, attempt: Attempt, verdict: str, lender: Person | None) -> Decision:
    """The row of a verdict with the words beside it, not yet signed."""
    approval, revision = vote.approval, vote.revision
    decision = Decision(
        workspace_id=approval.workspace_id,
        approval=approval,
        revision=revision.number,
        person=attempt.by,
        in_place_of=lender,
        turn=vote.turns.get(attempt.by.pk, 0) + 1,
        verdict=verdict,
        digest=revision.digest,
        message_digest=canonical.sha256_hex(attempt.message.encode()),
        choice=attempt.choice if verdict == "choose" or attempt.changes is not None else "",
        decided_via=attempt.via,
        assurance="" if attempt.assurance.level == CLICK.level else attempt.assurance.level,
        methods=" ".join(attempt.assurance.methods)[:80],
        decided_at=vote.at or rows.now(),
    )
    decision.message = sealing.seal(
        decision.workspace_id, attempt.message.encode(), place=_place(decision.pk, "message")
    )
    return decision
