"""Drafts: the next version of a policy while somebody writes it, and the cases that it has to answer.

A draft changes nothing and stands in no ledger before it is switched on. It has one author, who alone changes it; each
change names the number that it was read at, so that of two windows one is told. The text is sealed.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import models

from approvals import policies, policy_source, policy_switching, rows, vouched
from approvals.approvals import Approval
from approvals.ledger import canonical, sealing
from approvals.people import Person, Workspace
from approvals.policies import Policy
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

OPEN: Final = models.Q(ended_at__isnull=True)
DONE: Final = models.Q(approval__outcome="executed")
"""People approved it, and it came into force by that."""


class Draft(rows.Row):
    """A document as its author left it. ``based_on`` is the version that it is compared with, 0 where there was none;
    ``approval`` asks people about it; ``ended_at`` is when it came into force or was thrown away."""

    PREFIX = "pdr"

    author = models.ForeignKey(Person, models.PROTECT, related_name="+")
    number = models.PositiveIntegerField(default=1)
    based_on = models.PositiveIntegerField()
    source = models.BinaryField()
    cases = models.BinaryField()
    changed_at = models.DateTimeField(db_default=rows.Now())
    approval = models.ForeignKey(Approval, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "author"], condition=OPEN, name="one_open_draft_each")
        ]

    @property
    def text(self) -> str:
        """The document. Raises Tampered."""
        return self._unsealed("source")

    @property
    def cases_text(self) -> str:
        """The cases, empty where there are none. Raises Tampered."""
        return self._unsealed("cases")

    @property
    def done(self) -> bool:
        """Whether it came into force, or was thrown away."""
        return self.ended_at is not None or bool(self.approval and self.approval.outcome == "executed")

    @property
    def asks(self) -> bool:
        """Whether people are asked about it right now: then it stays as it is."""
        return self.approval is not None and self.approval.status == Approval.Status.PENDING

    def _unsealed(self, column: str) -> str:
        return sealing.unseal(self.workspace_id, getattr(self, column), place=_place(self.pk, column)).decode()


def _place(key: UUID, column: str) -> str:
    return f"approvals_draft.{column}:{key.hex}"


def _sealed(draft: Draft, column: str, text: str) -> bytes:
    return sealing.seal(draft.workspace_id, text.encode(), place=_place(draft.pk, column))


# Questions


def may_write(person: Person, workspace: Workspace) -> bool:
    """Whether somebody may write drafts: those who administer the workspace."""
    return vouched.may(person, "administer", workspace)


def open_ones(workspace: Workspace) -> list[Draft]:
    """The drafts that people work on, the one changed last first."""
    found = Draft.objects.filter(OPEN, workspace=workspace).exclude(DONE).select_related("author", "approval")
    return list(found.order_by("-changed_at"))


def named(workspace: Workspace, public_id: str) -> Draft | None:
    """The draft of this id, open or ended."""
    if (key := rows.parse_id(Draft.PREFIX, public_id)) is None:
        return None
    return Draft.objects.filter(workspace=workspace, pk=key).select_related("author", "approval").first()


# Verbs


def begin(workspace: Workspace, *, by: Person, text: str | None = None) -> Draft | Refused:
    """Begin a draft with what is in force, or with a text, and with the cases of the last draft that there was; the
    open one of whoever has one already, unless it is not as it was kept."""
    if not may_write(by, workspace):
        return Refused("not_allowed", "Only those who administer the workspace write its policy.")
    with rows.within(workspace):
        rows.one_at_a_time(f"draft {workspace.pk.hex} {by.pk.hex}")
        Draft.objects.filter(OPEN, DONE, workspace=workspace, author=by).update(ended_at=rows.Now())
        mine = Draft.objects.filter(OPEN, workspace=workspace, author=by)
        if (found := mine.first()) and _readable(found):
            return found
        mine.update(ended_at=rows.Now())
        current = policies.current(workspace.pk)
        draft = Draft(workspace=workspace, author=by, based_on=current.version if current else 0)
        draft.source = _sealed(draft, "source", _first_text(current) if text is None else text)
        draft.cases = _sealed(draft, "cases", _last_cases(workspace))
        draft.save(force_insert=True)
    return draft


def _readable(draft: Draft) -> bool:
    """Whether a draft is as it was kept."""
    try:
        _ = draft.text, draft.cases_text
    except UNPROVEN:
        return False
    return True


def _first_text(current: Policy | None) -> str:
    try:
        return policy_source.written(current.contents) if current else policy_source.text(policy_source.BLANK)
    except UNPROVEN:
        return policy_source.text(policy_source.BLANK)


def _last_cases(workspace: Workspace) -> str:
    last = Draft.objects.filter(workspace=workspace, ended_at__isnull=False).order_by("-ended_at").first()
    try:
        return last.cases_text if last else ""
    except UNPROVEN:
        return ""


def save(
    draft: Draft, *, by: Person, number: int, text: str, cases: str | None = None, based_on: int | None = None
) -> Draft | Refused:
    """Keep what the author wrote, whether or not it is a policy yet. ``number`` is that which they read."""
    if refused := unfit(draft, by, number, text) or unfit(draft, by, number, cases or ""):
        return refused
    with rows.within(draft.workspace_id):
        sets = {"number": number + 1, "changed_at": rows.Now(), "source": _sealed(draft, "source", text)}
        sets |= {"cases": _sealed(draft, "cases", cases)} if cases is not None else {}
        sets |= {"based_on": based_on} if based_on is not None else {}
        if not _mine(draft, number).update(**sets):
            return _behind()
    return Draft.objects.select_related("author", "approval").get(pk=draft.pk)


def discard(draft: Draft, *, by: Person, number: int) -> Refused | None:
    """Throw a draft away."""
    if refused := unfit(draft, by, number, ""):
        return refused
    with rows.within(draft.workspace_id):
        return None if _mine(draft, number).update(ended_at=rows.Now()) else _behind()


def switch_on(
    workspace: Workspace, draft: Draft, *, by: Person, number: int, reason: str = ""
) -> Policy | Approval | Refused:
    """Put a draft in force, or ask the people who have to approve it. Raises PolicyFault."""
    if refused := unfit(draft, by, number, ""):
        return refused
    if not may_write(by, workspace):
        return Refused("not_allowed", "Only those who administer the workspace switch its policy on.")
    answer = policy_switching.switch_on(workspace, draft.text, by=by, reason=reason, based_on=draft.based_on)
    with rows.within(workspace):
        if isinstance(answer, Approval):
            Draft.objects.filter(pk=draft.pk).update(approval=answer)
        elif isinstance(answer, Policy):  # what was written meanwhile in another window stays open
            _mine(draft, number).update(ended_at=rows.Now())
    return answer


def unfit(draft: Draft, by: Person, number: int, text: str) -> Refused | None:
    """Why this cannot be kept."""
    if by.pk != draft.author_id:
        return Refused("not_allowed", "A draft is changed by its author alone. Begin one of your own.")
    if draft.done:
        return Refused("too_late", "This draft is no longer open.")
    if draft.asks:
        return Refused("waits", "People are asked about this draft. Withdraw it before you change it.")
    if number != draft.number:
        return _behind()
    if len(text.encode(errors="replace")) > canonical.MAX_BYTES:
        return Refused("too_long", f"A policy has at most {canonical.MAX_BYTES:,} bytes.", pointer="/text")
    if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
        return Refused("not_text", "The text holds what is no character.", pointer="/text")
    return None


def _mine(draft: Draft, number: int) -> models.QuerySet[Draft]:
    return Draft.objects.filter(OPEN, pk=draft.pk, number=number)


def _behind() -> Refused:
    told = "You changed this draft in another window meanwhile. What you typed stands here and is not saved."
    return Refused("stale", told)
