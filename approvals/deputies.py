"""Deputies: who is away or lends their seats, to whom and until when, and which lent seats somebody may take now.

A seat is lent by somebody who holds it, never lent on, and only for a time. Whoever takes it speaks in the lender's
place: the two together fill one seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import people, returns, rows
from approvals.ledger import canonical, entries, followed, keys
from approvals.ledger.about import Broken
from approvals.people import Able, Given, Person


class Absence(rows.Row):
    """That a person is away, or lends their seats, for a time. Once it is announced only its end can come earlier."""

    PREFIX = "abs"

    class Kind(models.TextChoices):
        DELEGATION = "delegation"
        OUT_OF_OFFICE = "out_of_office"

    kind = models.CharField(max_length=13, choices=Kind.choices)
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    deputy = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    teams = models.JSONField(default=list)
    """The teams whose seats are lent, by slug; empty for every seat that the person holds."""
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    mac = models.BinaryField()

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace", "ends_at"], condition=models.Q(ended_at__isnull=True), name="absences_in_force"
            )
        ]

    def holds(self) -> bool:
        """Whether the row is as it was announced."""
        return keys.holds("absence", signed(self), bytes(self.mac))

    def lends(self, seat: str) -> bool:
        """Whether it is about this seat."""
        return not self.teams or seat in self.teams


def signed(absence: Absence) -> bytes:
    """What the authentication code is over."""
    return canonical.encode(facts(absence) | {"workspace": absence.workspace_id.hex})


def facts(absence: Absence) -> dict[str, Any]:
    """What an absence says, as the ledger is told."""
    return {
        "absence": absence.public_id,
        "absent": str(absence.kind),
        "person": rows.public_id(Person.PREFIX, absence.person_id),
        "deputy": rows.public_id(Person.PREFIX, absence.deputy_id) if absence.deputy_id else "",
        "teams": list(absence.teams),
        "starts_at": f"{absence.starts_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "ends_at": f"{absence.ends_at:%Y-%m-%dT%H:%M:%S.%fZ}",
    }


# Questions


@dataclass(frozen=True)
class Lent:
    """Seats that one person may take in the place of another, each with what gives it to the lender."""

    absence: Absence
    seats: Mapping[str, Given]

    @property
    def lender(self) -> UUID:
        return self.absence.person_id


@dataclass(frozen=True)
class Eligible:
    """Who may take which seats: those who hold them, and those to whom they are lent."""

    own: Able
    lent: Mapping[UUID, tuple[Lent, ...]] = field(default_factory=dict)

    def lent_by(self, lender: UUID, person: UUID, at: datetime) -> list[Lent]:
        """What was lent from the one to the other before this moment, and still is."""
        lent = [each for each in self.lent.get(person, ()) if each.lender == lender]
        return [each for each in lent if each.absence.starts_at <= at]


def with_deputies(workspace_id: UUID, own: Able) -> Eligible:
    """Those who hold seats, and their deputies of this moment, who are active members. One query however many seats."""
    lent: dict[UUID, tuple[Lent, ...]] = {}
    for absence in _IN_FORCE(workspace=workspace_id) if own else ():
        held = own.get(absence.person_id, {}).items()
        seats = {seat: given for seat, given in held if absence.lends(seat) and _still_lent(absence, given)}
        if seats and absence.deputy_id and absence.holds():
            lent[absence.deputy_id] = (*lent.get(absence.deputy_id, ()), Lent(absence, seats))
    return Eligible(own, lent)


_IN_FORCE = rows.Ready(
    lambda: (
        Absence.objects.select_related("person")
        .filter(
            workspace_id=rows.Slot("workspace"),
            ended_at__isnull=True,
            starts_at__lte=rows.NowOnce(),
            ends_at__gt=rows.NowOnce(),
            deputy__is_active=True,
            deputy__memberships__workspace_id=rows.Slot("workspace"),
        )
        .order_by("created_at", "pk")
    )
)


def _still_lent(absence: Absence, given: Given) -> bool:
    """Whether its lender has held a seat ever since they lent it, by the ledger: what they lost, and got again, they
    have to lend anew."""
    try:
        told = _TOLD.of(absence.workspace_id).get(absence.public_id)
        back = returns.regained(absence.workspace_id, rows.public_id(Person.PREFIX, absence.person_id), given.thing)
    except Broken:
        return False
    return not (told and back) or datetime.fromisoformat(told["at"]) > back


def away(workspace_id: UUID) -> set[UUID]:
    """Those who are out of office now, whether or not somebody stands in for them."""
    out = Absence.objects.filter(workspace_id=workspace_id, kind=Absence.Kind.OUT_OF_OFFICE, ended_at__isnull=True)
    return set(
        out.filter(starts_at__lte=rows.NowOnce(), ends_at__gt=rows.NowOnce()).values_list("person_id", flat=True)
    )


def lent_seats(workspace_id: UUID, person: Person) -> dict[UUID, set[str]]:
    """The seats lent to somebody now, by lender; a lender that was switched off or left has none."""
    lent: dict[UUID, set[str]] = {}
    for absence in _IN_FORCE(workspace=workspace_id):
        if absence.deputy_id == person.pk and absence.holds():
            able = people.deciders_of(workspace_id, people.seats_of(absence.person, workspace_id))
            held = able.get(absence.person_id, {}).items()
            seats = {seat for seat, given in held if absence.lends(seat) and _still_lent(absence, given)}
            lent.setdefault(absence.person_id, set()).update(seats)
    return lent


# What the ledger must explain

ANNOUNCED: Final = "absence.announced"
ENDED: Final = "absence.ended"
_Told = dict[str, dict[str, Any]]


def _after(known: _Told, told: Iterable[dict[str, Any]]) -> _Told:
    """The absences that were announced and not ended, by their ids."""
    standing = dict(known)
    for entry in told:
        if entry["kind"] == ANNOUNCED:
            standing[entry["absence"]] = entry
        else:
            standing.pop(entry["absence"], None)
    return standing


_TOLD: followed.Followed[_Told] = followed.Followed([ANNOUNCED, ENDED], {}, _after)


def unexplained_among(workspace_id: UUID, absences: Iterable[Absence]) -> list[Absence]:
    """Those of these absences that no entry of the ledger announced as they stand, or that one ended. Raises
    ledger.about.Broken where the ledger proves nothing."""
    asked = list(absences)
    told = _TOLD.of(workspace_id) if asked else {}
    return [absence for absence in asked if not _explained(told, absence)]


def _explained(told: _Told, absence: Absence) -> bool:
    entry = told.get(absence.public_id, {})
    return all(entry.get(name) == value for name, value in facts(absence).items())


def unexplained(workspace_id: UUID) -> list[str]:
    """The absences in force that the ledger does not know as they stand: somebody wrote them past Placet."""
    told = _after({}, entries.read(workspace_id, followed.CHAIN, only=[ANNOUNCED, ENDED]))
    standing = Absence.objects.filter(workspace_id=workspace_id, ended_at__isnull=True).order_by("created_at")
    return [
        f"No entry announced {absence.public_id} as it stands."
        for absence in standing
        if not absence.holds() or not _explained(told, absence)
    ]
