"""Comments: what people say of an approval without deciding it. Any member may, before it is settled and after; nothing
runs from it, and the agent is not told.

Like a vote a comment is signed, sealed and named by an entry of the chain: who said it, of which revision, and the
digest of the words.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import models

from approvals import approvals, people, revisions, rows, words
from approvals.approvals import Approval
from approvals.ledger import canonical, keys, sealing
from approvals.people import Person
from approvals.votes import Refused

LONGEST: Final = 4000
"""The longest comment, in characters; beside a verdict too."""
MOST: Final = 200
"""So many comments an approval takes."""
MOST_EACH: Final = 50
"""So many of them one person writes: nobody takes the word from the others."""


class Comment(rows.Row):
    """What one person said of one revision, as it was when they said it. Rows are only added."""

    PREFIX = "cmt"
    WRITE_ONCE = True
    EXCEPTIONS = ("UPDATE (text)",)

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="comments")
    revision = models.PositiveIntegerField()
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    text = models.BinaryField()
    text_digest = models.CharField(max_length=64)
    said_via = models.CharField(max_length=8)
    said_at = models.DateTimeField()
    mac = models.BinaryField()

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("comment", _signed(self), self.mac)

    def clear_text(self) -> str:
        """The words. Raises Tampered when they are not those that were said."""
        clear = sealing.unseal(self.workspace_id, self.text, place=_place(self.pk))
        if not self.holds() or canonical.sha256_hex(clear) != self.text_digest:
            raise sealing.Tampered("The comment is not the one that was written.")
        return clear.decode()


def _signed(comment: Comment) -> bytes:
    names = ("id", "workspace_id", "approval_id", "person_id")
    facts = {name: getattr(comment, name) for name in ("revision", "text_digest", "said_via")}
    facts |= {name: getattr(comment, name).hex for name in names}
    return canonical.encode(facts | {"said_at": revisions.instant(comment.said_at)})


def _place(key: UUID) -> str:
    return f"approvals_comment.text:{key.hex}"


# Questions


def of(approval: Approval) -> list[Comment]:
    """The comments on an approval, in their order, with the person."""
    return list(approval.comments.select_related("person").order_by("said_at", "pk"))


def unfit(text: str) -> Refused | None:
    """Why these words cannot be kept, with a verdict or without one."""
    if len(text) > LONGEST:
        return Refused("message_too_long", f"A comment has at most {LONGEST} characters.", pointer="/message")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        return Refused("message_not_text", "A comment cannot hold U+0000 or half a surrogate pair.", pointer="/message")
    return None


# The verb


def leave(workspace_id: UUID, approval_id: UUID, *, by: Person, text: str, via: str) -> Comment | Refused:
    """Say something of an approval, open or settled, and decide nothing. Never raises for a domain answer."""
    text = words.spoken(text)
    with rows.within(workspace_id):
        mine = Approval.objects.filter(workspace_id=workspace_id, pk=approval_id)
        found = mine.select_for_update(no_key=True).first()
        if found is None:
            return Refused("not_found", "There is no such approval.")
        return _refusal(found, by, text) or _write(found, by, text, via)


def _refusal(approval: Approval, by: Person, text: str) -> Refused | None:
    if not by.is_active or not people.Membership.objects.filter(workspace=approval.workspace_id, person=by).exists():
        return Refused("not_allowed", "Only members of the workspace speak here.")
    if not text:
        return Refused("needs_message", "Write something first.", pointer="/message")
    if not approval.context:
        return Refused("erased", "What was asked here was erased with its run.")
    if approval.comments.filter(person=by).count() >= MOST_EACH:
        return Refused("too_many_comments", f"You wrote {MOST_EACH} comments here already; leave room for others.")
    if approval.comments.count() >= MOST:
        return Refused("too_many_comments", f"This has {MOST} comments already; it takes no more.")
    return unfit(text)


def _write(approval: Approval, by: Person, text: str, via: str) -> Comment:
    comment = Comment(
        workspace_id=approval.workspace_id,
        approval=approval,
        revision=approval.revision,
        person=by,
        text_digest=canonical.sha256_hex(text.encode()),
        said_via=via,
        said_at=rows.now(),
    )
    comment.text = sealing.seal(approval.workspace_id, text.encode(), place=_place(comment.pk))
    comment.mac = keys.sign("comment", _signed(comment))
    rows.insert(comment)
    body = {"comment": comment.public_id, "text_digest": comment.text_digest, "via": via}
    approvals.record(approval, "comment.made", body, by=by.public_id)
    rows.publish(approval.workspace_id, approval.public_id)
    return comment
