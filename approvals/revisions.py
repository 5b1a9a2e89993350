"""Revisions: the exact bytes that people vote on, the header that is hashed with them, and the bar they have to
meet."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db import models

from approvals import rows, rulings
from approvals.ledger import canonical
from approvals.people import Person
from approvals.rulings import UNPROVEN, Forged, Ruling

if TYPE_CHECKING:
    from approvals.approvals import Approval

HEADER_FORMAT = 1


class Revision(rows.Row):
    """The exact bytes that people vote on: the first as the agent proposed them, each later one as an editor left
    them. ``length`` is how many there are to read; 0 of what is older than this column."""

    PREFIX = "rev"
    WRITE_ONCE = True

    approval = models.ForeignKey("approvals.Approval", models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    editor = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    ruling = models.OneToOneField(Ruling, models.PROTECT, related_name="revision_ruled")
    args_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    length = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["approval", "number"], name="one_revision_of_a_number")]
        indexes = [
            models.Index(
                fields=["workspace", "args_digest", "-created_at"],
                condition=models.Q(number=1),
                name="revisions_proposed_alike",
            ),
        ]


# Questions


def revisions(approval: Approval) -> list[Revision]:
    """Every revision, oldest first, with its ruling and editor."""
    return list(approval.revisions.select_related("ruling", "editor").order_by("number"))


def current_revision(approval: Approval) -> Revision:
    """The revision that people vote on now, and in ``read_at`` the database's time. Raises Forged if it is gone."""
    found = _NUMBERED.first(approval=approval.pk, number=approval.revision)
    if found is None:
        raise Forged(f"Revision {approval.revision} of {approval.public_id} is gone.")
    return found


_NUMBERED = rows.Ready(
    lambda: (
        Revision.objects.select_related("ruling", "editor")
        .annotate(read_at=rows.Now())
        .filter(approval_id=rows.Slot("approval"), number=rows.Slot("number"))
    )
)


def editors_before(revision: Revision) -> set[UUID]:
    """Whoever edited what this revision was made from."""
    earlier = Revision.objects.filter(approval_id=revision.approval_id, number__lt=revision.number)
    return set(earlier.filter(editor__isnull=False).values_list("editor_id", flat=True))


def args_of(revision: Revision) -> bytes:
    """The exact argument bytes of a revision. Raises Tampered when they are not the ones that were sealed."""
    return revision.ruling.clear_args()


def bar_of(revision: Revision) -> dict[str, Any]:
    """The rule that a revision has to meet, from its signed ruling. Raises Forged."""
    ruling = revision.ruling
    editor = revision.editor_id.hex if revision.editor_id else ""
    if not ruling.holds() or ruling.digest != revision.digest or ruling.header.get("editor", "") != editor:
        raise Forged(f"The ruling of revision {revision.number} is not as it was written.")
    rule: dict[str, Any] = ruling.rule
    return rule


def rule_of(approval: Approval, revision: Revision) -> dict[str, Any]:
    """The rule of a revision for pages and lists: the signed one. Where that is not as it was written the row's own
    stands in, with that as its reason; `bar_of` lets nothing be decided by it."""
    try:
        return bar_of(revision)
    except UNPROVEN as fault:
        return {**approval.rule, "reason": str(fault)}


# Verbs


def add_revision(
    approval: Approval,
    args: bytes,
    rule: dict[str, Any],
    *,
    number: int,
    editor: Person | None,
    policy_version: int,
    target: Mapping[str, Any] | None = None,
) -> Revision:
    """Write the bytes of a revision with the ruling that covers them; the caller moves ``approval.revision``.
    ``target`` is the pin of what the bytes point to."""
    header = make_header(
        approval.workspace_id,
        **_of_approval(approval, editor, target),
        revision=number,
        policy_version=policy_version,
        rule=rule["id"],
    )
    ruling = rulings.write(
        args=args,
        subject=approval.subject,
        chain=approval.chain,
        revision=number,
        verdict=Ruling.Verdict.REQUIRE_APPROVAL,
        reason=rule["reason"],
        tool=approval.tool,
        agent=approval.agent,
        definition_digest=approval.definition_digest,
        policy_version=policy_version,
        rule_id=rule["id"],
        rule=rule,
        header=header,
        digest=canonical.action_digest(header, args),
    )
    revision = Revision.objects.create(
        workspace_id=approval.workspace_id,
        approval=approval,
        number=number,
        editor=editor,
        ruling=ruling,
        args_digest=ruling.args_digest,
        digest=ruling.digest,
        length=len(args),
    )
    for note in ADDED:
        note(approval, revision)
    return revision


ADDED: Final[list[Callable[[Approval, Revision], None]]] = []
"""What else is written when a revision is, in its transaction: functions of its approval and of it."""


def _of_approval(approval: Approval, editor: Person | None, target: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the header of a revision says of its approval, its editor and what the bytes point to; no empty words."""
    said: dict[str, Any] = {
        "approval": approval.public_id,
        "definition": approval.definition_digest,
        "expiry": instant(approval.expires_at),
    }
    said |= {} if approval.kind == "call" else {"kind": str(approval.kind)}
    said |= {"editor": editor.pk.hex} if editor else {}
    said |= {"rehearsal": True} if approval.rehearsal else {}
    return said | ({"target": dict(target)} if target else {})


def make_header(workspace_id: UUID, **fields: Any) -> dict[str, Any]:
    """Everything the digest of an action covers beside the arguments; the salt keeps equal actions apart."""
    return {"format": HEADER_FORMAT, "workspace": workspace_id.hex, "salt": secrets.token_hex(16), **fields}


def instant(moment: datetime) -> str:
    """A time as it is hashed: UTC, microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
