"""Shortfalls: the rules that nobody could satisfy any more if somebody were gone, told before they are."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from approvals import bars, people, policies, policy_glass
from approvals.people import Able, Person
from approvals.rulings import UNPROVEN


def without(workspace_id: UUID, person: Person, *, seat: str | None = None) -> list[str]:
    """A sentence for every rule that enough people can meet now, and could not without this person, or without them in
    one seat: a team's by its slug, that of an agent's operators by its public id. One query for all rules."""
    policy = policies.current(workspace_id)
    try:
        rules = policy.rules if policy else []
    except UNPROVEN:
        return []  # nothing is decided under such a policy
    wanted = {name for rule in rules for name in (*bars.seats(rule), *_glass(rule))}
    now = people.deciders_of(workspace_id, wanted)
    then = {key: _left(seats, seat) if key == person.pk else seats for key, seats in now.items()}
    return [told for rule in rules for told in _told(rule, now, then)]


def _left(seats: dict[str, people.Given], seat: str | None) -> dict[str, people.Given]:
    return {name: given for name, given in seats.items() if seat is not None and name != seat}


def _told(rule: dict[str, object], now: Able, then: Able) -> Iterator[str]:
    needed = bars.seats(rule)
    if needed and bars.filled(needed, now.values()) == len(needed) > bars.filled(needed, then.values()):
        yield f"Nobody could satisfy rule {rule['id']} any more, so what it asks about is refused."
    for team in _glass(rule):
        if any(team in seats for seats in now.values()) and not any(team in seats for seats in then.values()):
            yield f"Nobody could break the glass under rule {rule['id']} any more, or look at it afterwards."


def _glass(rule: dict[str, object]) -> list[str]:
    return list(dict.fromkeys(team for _, team in policy_glass.teams(rule)))
