"""Vouched: the memberships and rights that entries of the ledger gave, and those in force that none did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from approvals import people, rows
from approvals.ledger import entries, followed
from approvals.ledger.about import Broken
from approvals.people import Able, Given, Membership, Person, Team, home, is_operators, rights_in_force


@dataclass(frozen=True)
class _Told:
    """Who is a member by the ledger and not switched off, which rights it gave and did not take (person, right, thing),
    which it ever gave, and which teams it formed under which name."""

    joined: frozenset[str] = frozenset()
    granted: frozenset[tuple[str, str, str]] = frozenset()
    off: frozenset[str] = frozenset()
    formed: frozenset[Given] = frozenset()
    ever: frozenset[tuple[str, str, str]] = frozenset()

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        joined, granted, off, formed = set(self.joined), set(self.granted), set(self.off), set(self.formed)
        ever = set(self.ever)
        for entry in told:
            match entry["kind"]:
                case "person.joined":
                    joined.add(entry["person"])
                case "person.left":
                    joined.discard(entry["person"])
                case "person.deactivated":
                    off.add(entry["person"])
                case "person.reactivated":
                    off.discard(entry["person"])
                case "right.granted":
                    granted.add((entry["person"], entry["right"], entry["thing"]))
                    ever.add((entry["person"], entry["right"], entry["thing"]))
                case "right.revoked":
                    granted.discard((entry["person"], entry["right"], entry["thing"]))
                case "team.formed":
                    formed.add(Given(entry["team"], entry["slug"]))
        return _Told(frozenset(joined), frozenset(granted), frozenset(off), frozenset(formed), frozenset(ever))


_RIGHTS = ["person.joined", "person.left", "person.deactivated", "person.reactivated", "right.granted", "right.revoked"]
_RIGHTS += ["team.formed"]
_TOLD = followed.Followed(_RIGHTS, _Told(), _Told.after)


def unexplained(workspace_id: UUID) -> list[str]:
    """The memberships and rights in force that no entry of the ledger granted: somebody wrote them past Placet."""
    told = _Told().after(entries.read(workspace_id, "workspace", only=_RIGHTS))
    members = Membership.objects.filter(workspace_id=workspace_id).select_related("person")
    found = [
        f"No entry made {member.person.email} a member."
        for member in members
        if member.person.public_id not in told.joined
    ]
    found += [
        f"No entry switched {member.person.email} on again."
        for member in members
        if member.person.is_active and member.person.public_id in told.off
    ]
    return found + [
        f"No entry gave {email} the right to {right} {thing}."
        for email, person, right, thing in rights_in_force(workspace_id)
        if (person, right, thing) not in told.granted
    ]


def unexplained_among(workspace_id: UUID, able: Able) -> set[UUID]:
    """Those of these people who are members, or may take one of these seats, by no entry of the ledger: a team's seat
    is that of the team which the ledger formed under this name. Raises ledger.about.Broken where the ledger proves
    nothing."""
    told = _TOLD.of(workspace_id)
    return {key for key, seats in able.items() if not _explained(told, rows.public_id(Person.PREFIX, key), seats)}


def explained(person: Person, right: str, thing: Any) -> bool:
    """Whether the ledger says that this person is a member and not switched off, and was given this right on exactly
    this thing. Raises ledger.about.Broken."""
    told = _TOLD.of(home(thing))
    held = (person.public_id, right, thing.public_id) in told.granted
    return held and person.public_id in told.joined - told.off


def may(person: Any, right: str, thing: Any) -> bool:
    """Whether somebody may do this now, by a right that the ledger gave; nobody while it proves nothing. What they do
    with it gets an entry of its own: a right that was written past Placet would beget what everybody believes."""
    try:
        return people.may(person, right, thing) and explained(person, right, thing)
    except Broken:
        return False


def members(workspace_id: UUID) -> set[UUID]:
    """Who is a member by the ledger and not switched off. Raises ledger.about.Broken."""
    told = _TOLD.of(workspace_id)
    return {key for one in told.joined - told.off if (key := rows.parse_id(Person.PREFIX, one))}


def able(workspace_id: UUID, seats: Iterable[str]) -> Able:
    """Who may take these seats by the ledger alone, whatever the rows say. Raises ledger.about.Broken."""
    told, wanted = _TOLD.of(workspace_id), set(seats)
    by_thing = {("decide", given.thing): given for given in told.formed if given.called in wanted}
    by_thing |= {("operate", seat): Given(seat, seat) for seat in wanted if is_operators(seat)}
    found: Able = {key: {} for key in members(workspace_id)}
    for person, right, thing in told.granted:
        key, given = rows.parse_id(Person.PREFIX, person), by_thing.get((right, thing))
        if given and key in found:
            found[key][given.called] = given
    return {key: held for key, held in found.items() if held}


def former(team: Team) -> set[UUID]:
    """Who could decide for a team once, members or not, and cannot any more. Raises ledger.about.Broken."""
    told = _TOLD.of(team.workspace_id)
    lost = (who for who, right, thing in told.ever - told.granted if (right, thing) == ("decide", team.public_id))
    return {key for one in lost if (key := rows.parse_id(Person.PREFIX, one))}


def teams(workspace_id: UUID, slugs: Iterable[str]) -> dict[str, Team]:
    """The teams that the ledger formed under these names, whatever their rows are called by now, in the order of the
    names. Raises ledger.about.Broken."""
    wanted = set(slugs)
    formed = {given.called: given.thing for given in _TOLD.of(workspace_id).formed if given.called in wanted}
    keys = [key for thing in formed.values() if (key := rows.parse_id(Team.PREFIX, thing))]
    here = {one.public_id: one for one in Team.objects.filter(workspace_id=workspace_id, pk__in=keys)}
    return {slug: here[thing] for slug, thing in sorted(formed.items()) if thing in here}


def team(workspace_id: UUID, slug: str) -> Team | None:
    """The one that the ledger formed under this name; None where there is none. Raises ledger.about.Broken."""
    return teams(workspace_id, [slug]).get(slug)


def called(team: Team) -> str:
    """The name under which the ledger formed a team; that of its row for one that this transaction is forming. Raises
    ledger.about.Broken."""
    formed = _TOLD.of(team.workspace_id).formed
    return next((given.called for given in formed if given.thing == team.public_id), team.slug)


def _explained(told: _Told, person: str, seats: dict[str, Given]) -> bool:
    teams = {given for given in seats.values() if not is_operators(given.thing)}
    rights = {(person, "decide" if given in teams else "operate", given.thing) for given in seats.values()}
    return person in told.joined - told.off and rights <= told.granted and teams <= told.formed
