"""Whose is what: which approvals wait for a person, which for others, as conditions in SQL."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from approvals import deputies, expiry, halts, people, returns, rows
from approvals.approvals import ENDED, Approval
from approvals.decisions import Decision
from approvals.ledger.about import Broken
from approvals.pages import order
from approvals.people import Person, Workspace
from approvals.revisions import Revision
from approvals.rows import bounded

COUNTED = 999
"""Beyond so many a tab only says that there are more."""


def told(count: int) -> str:
    """A count as a tab says it."""
    return f"{COUNTED}+" if count > COUNTED else str(count)


class Reader:
    """A person in a workspace, and what is whose from where they stand. Every question is one condition in SQL."""

    def __init__(self, workspace: Workspace, person: Person) -> None:
        self.workspace, self.person = workspace, person
        self.teams = sorted(people.seats_of(person, workspace.pk))
        self.lent = deputies.lent_seats(workspace.pk, person)
        self.now = rows.now()

    def tab(self, key: str, after: order.Place | None = None) -> QuerySet[Approval]:
        """The approvals of a tab in their order, behind a place of it if one is given."""
        found = Approval.objects.filter(self.conditions()[key], workspace=self.workspace)
        if key == "settled":
            return order.settled(found, after)
        return order.waiting(found, after.at if after else self.now, self.halted, after)

    def conditions(self) -> dict[str, Q]:
        """What makes an approval belong to a tab."""
        pending = expiry.still_open(self.now)
        mine = self._mine()
        voted = Q(pk__in=self._voted)
        today = timezone.localtime(self.now).replace(hour=0, minute=0, second=0, microsecond=0)
        return {
            "for-you": pending & mine & ~voted,
            "others": pending & ~mine & ~voted,
            "voted": pending & voted,
            "settled": ENDED & Q(decided_at__gte=today),
        }

    def counts(self) -> dict[str, int]:
        """How many approvals each tab has, in one statement; one more than COUNTED stands for all beyond it."""
        mine = Approval.objects.filter(workspace=self.workspace)
        return bounded.counts({key: mine.filter(one) for key, one in self.conditions().items()}, most=COUNTED)

    @cached_property
    def halted(self) -> list[halts.Halt]:
        """The stops that are on."""
        return halts.on(self.workspace.pk)

    def _mine(self) -> Q:
        own = Q(requester=self.person, rule__prevent_self_review=True)
        held = Q(teams__overlap=self.teams) & ~own if self.teams else Q(pk__in=[])
        for lender, seats in self.lent.items():
            theirs = Q(requester__in=[self.person.pk, lender]) | self._barred_editor(lender)
            held |= Q(teams__overlap=sorted(seats)) & ~theirs if seats else Q(pk__in=[])
        return held & ~self._barred_editor(self.person.pk)

    def _barred_editor(self, person: UUID) -> Q:
        edited = Revision.objects.filter(approval=OuterRef("pk"), number__lte=OuterRef("revision"), editor=person)
        return Q(rule__editor_may_approve=False) & Q(Exists(edited))

    @cached_property
    def _voted(self) -> list[UUID]:
        """The open approvals for which the reader's vote stands: few, and asked once, not beside each open one."""
        given = Decision.objects.filter(approval__workspace=self.workspace, approval__status="pending")
        given = given.filter(person=self.person, revision=F("approval__revision"))
        back = self._back()
        given = given.filter(decided_at__gt=back) if back else given
        return list(given.filter(verdict__in=["approve", "respond", "choose"]).values_list("approval_id", flat=True))

    def _back(self) -> datetime | None:
        """When the reader came back, if they were gone: what they said before waits for them again."""
        try:
            return returns.of(self.workspace.pk, self.person)
        except Broken:
            return None  # the approval's own page says so


def waiting(workspace: Workspace, person: Person) -> str:
    """How many approvals wait for this person now, as the bar says it; nothing for none."""
    reader = Reader(workspace, person)
    mine = Approval.objects.filter(reader.conditions()["for-you"], workspace=workspace)
    count = bounded.counts({"mine": mine}, most=COUNTED)["mine"]
    return told(count) if count else ""
