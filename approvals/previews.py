"""Previews: what a call would change, as its tool foresees it without changing anything.

A preview is shown beside the call with the time at which it was made. It decides nothing: it is in no digest that
people vote on, and clearance never looks at it. What the tool answered is sealed, signed and named by an entry of the
chain; a failure is kept as well, in words. Rows are only added: whoever looks again makes another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from approvals import approvals, revisions, rows
from approvals.approvals import Approval
from approvals.ledger import canonical, entries, keys, sealing
from approvals.votes import Refused

LINES_MAX: Final = 20
LONGEST: Final = 200
"""A tool says at most so many lines, of texts of at most so many characters; more is no preview."""
AGAIN: Final = timedelta(seconds=10)
"""So long after a look people can ask for another."""
MOST: Final = 50
"""So many looks an approval takes."""
UNFIT: Final = "What the tool answered is no preview."
_AT_ONCE: Final = 500


@dataclass(frozen=True)
class Line:
    """One thing that would change: what it is, how it would be, and how it is now where the tool says so."""

    what: str
    after: str
    before: str = ""


@dataclass(frozen=True)
class Foreseen:
    """What the tool ``reader`` foresees; or, in ``problem``, why it says nothing."""

    reader: str
    lines: tuple[Line, ...] = ()
    problem: str = ""


class Preview(rows.Row):
    """What was foreseen of one revision of a call, and when."""

    PREFIX = "pre"
    WRITE_ONCE = True
    EXCEPTIONS = ("UPDATE (answer)",)

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="previews")
    revision = models.PositiveIntegerField()
    answer = models.BinaryField()
    answer_digest = models.CharField(max_length=64)
    made_at = models.DateTimeField()
    mac = models.BinaryField()

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("preview", _signed(self), bytes(self.mac))

    def foreseen(self) -> Foreseen:
        """What was foreseen. Raises Tampered when it is not what the tool answered."""
        clear = sealing.unseal(self.workspace_id, bytes(self.answer), place=_place(self.pk))
        if not self.holds() or canonical.sha256_hex(clear) != self.answer_digest:
            raise sealing.Tampered("The preview is not the one that was made.")
        said: dict[str, Any] = canonical.parse(clear)
        return Foreseen(said["reader"], tuple(Line(**line) for line in said["lines"]), said["problem"])


def _signed(preview: Preview) -> bytes:
    facts: dict[str, Any] = {name: getattr(preview, name).hex for name in ("id", "workspace_id", "approval_id")}
    facts |= {"revision": preview.revision, "answer_digest": preview.answer_digest}
    return canonical.encode(facts | {"made_at": revisions.instant(preview.made_at)})


def _place(key: UUID) -> str:
    return f"approvals_preview.answer:{key.hex}"


# What a tool answers


def read(reader: str, answer: Any) -> Foreseen:
    """The answer of a tool that was asked for a preview: ``{"changes": [{"what", "before"?, "after"}, …]}``, each a
    text, a number or a truth value. Anything else is no preview, and that is said."""
    changes = answer.get("changes") if isinstance(answer, dict) else None
    if not isinstance(changes, list) or not 0 < len(changes) <= LINES_MAX or not all(map(_fits, changes)):
        return Foreseen(reader, problem=UNFIT)
    return Foreseen(reader, tuple(Line(**{name: _text(value) for name, value in each.items()}) for each in changes))


def _fits(change: Any) -> bool:
    wanted = {"what", "after"}
    named = isinstance(change, dict) and wanted <= change.keys() <= wanted | {"before"}
    return named and all(
        isinstance(each, str | int | float) and len(_text(each)) <= LONGEST for each in change.values()
    )


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else canonical.encode(value).decode()


# Questions


@dataclass(frozen=True)
class Wanted:
    """The call that a preview is wanted of, as it stands now."""

    subject: str
    revision: int
    args: bytes


def wanted(workspace_id: UUID, approval_id: str) -> Wanted | None:
    """What is to be foreseen of an approval; None where nobody decides about it any more. Inside `rows.within`."""
    found = _named(workspace_id, approval_id).filter(kind="call").first()
    if found is None or found.rehearsal:
        return None
    return Wanted(found.subject, found.revision, revisions.args_of(revisions.current_revision(found)))


def _named(workspace_id: UUID, approval_id: str) -> models.QuerySet[Approval]:
    """The approval of this public id, while people may still decide about it."""
    key = rows.parse_id(Approval.PREFIX, approval_id)
    return Approval.objects.filter(workspace_id=workspace_id, pk__in=[key] if key else [], status="pending")


def of(approval: Approval) -> Preview | None:
    """The last preview of an approval, of whatever revision it is."""
    return approval.previews.order_by("-made_at", "-pk").first()


def unexplained(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every preview that Placet did not make, or that is gone."""
    made = entries.Entry.objects.filter(workspace_id=workspace_id, kind="preview.made")
    told = {canonical.parse(bytes(body))["preview"] for body in made.values_list("body", flat=True).iterator(_AT_ONCE)}
    here = set()
    for one in Preview.objects.filter(workspace_id=workspace_id).order_by("created_at").iterator(_AT_ONCE):
        here.add(one.public_id)
        if not one.holds():
            yield f"preview {one.public_id} is not as it was written."
    yield from (f"preview {name} is gone." for name in sorted(told - here))
    yield from (f"no entry made preview {name}." for name in sorted(here - told))


# Verbs


def attach(workspace_id: UUID, approval_id: str, revision: int, seen: Foreseen) -> bool:
    """Keep what was foreseen of a revision, in an open transaction. False where it is not the current one any more."""
    approval = _named(workspace_id, approval_id).filter(revision=revision).select_for_update(no_key=True).first()
    if approval is None:
        return False
    lines = [{name: text for name, text in vars(line).items() if text} for line in seen.lines]
    clear = canonical.encode({"reader": seen.reader, "lines": lines, "problem": seen.problem})
    made = Preview(workspace_id=workspace_id, approval=approval, revision=revision, made_at=rows.now())
    made.answer = sealing.seal(workspace_id, clear, place=_place(made.pk))
    made.answer_digest = canonical.sha256_hex(clear)
    made.mac = keys.sign("preview", _signed(made))
    rows.insert(made)
    body = {"preview": made.public_id, "revision": revision, "answer_digest": made.answer_digest}
    approvals.record(approval, "preview.made", body | {"failed": bool(seen.problem)}, by="system")
    rows.publish(workspace_id, approval.public_id)
    return True


def look_again(approval: Approval, *, now: datetime) -> Refused | None:
    """Have the tool asked once more, by people who read the page; a worker does it, and the page is told."""
    last = of(approval)
    if last is None or approval.status != Approval.Status.PENDING:
        return Refused("no_preview", "There is nothing to look up here.")
    if now - last.made_at < AGAIN or approval.previews.count() >= MOST:
        return Refused("too_soon", "It was looked up a moment ago.")
    _ask(approval)
    return None


def follow(approval: Approval) -> None:
    """After an edit: what was foreseen was foreseen of another revision."""
    if approval.previews.exists():
        _ask(approval)


def _ask(approval: Approval) -> None:
    rows.after_commit(import_string(settings.PLACET_PREVIEW), approval.workspace_id, approval.public_id)
