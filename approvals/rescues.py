"""Rescues: the way out where the people are gone who would have to approve a change of who decides.

Only where by the ledger nobody can meet the rule any more, whoever asks; and those first who decided for the team
before and are still there, so that nobody gets in by getting others out. Somebody who administers the workspace
announces that one person is to decide for one team; everybody is told, by a letter and in their inbox; for a day each
administrator can withdraw it; then it is carried out, if the rule still has too few people. No row says that it waits
or since when: the ledger alone does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from approvals import bars, changes, letters, people, policies, revisions, rows, vouched, words
from approvals.ledger import about, entries, followed
from approvals.people import Membership, Person, Team, Workspace
from approvals.votes import Refused

HOLD: Final = timedelta(hours=24)
"""So long everybody has to see it, and each administrator to withdraw it."""
OPEN_FOR: Final = timedelta(days=7)
"""So long after that it can be carried out; then it has to be announced anew."""
REASON_MAX: Final = 500
_ANNOUNCED: Final = "rescue.announced"
_WITHDRAWN: Final = "rescue.withdrawn"
_CARRIED_OUT: Final = "rescue.carried_out"


@dataclass(frozen=True)
class Rescue:
    """One that was announced: who is to decide for which team, since whose word and why, and from when until when it
    can be carried out."""

    team: str
    person: str
    by: str
    reason: str
    due: datetime

    @property
    def lapses(self) -> datetime:
        return self.due + OPEN_FOR

    @property
    def key(self) -> tuple[str, str]:
        return self.team, self.person

    @property
    def body(self) -> dict[str, str]:
        return {"team": self.team, "person": self.person}


@dataclass(frozen=True)
class _Told:
    """What was announced and neither withdrawn nor carried out, by the team and the person."""

    open: Mapping[tuple[str, str], Rescue] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        left = dict(self.open)
        for entry in told:
            key = (str(entry["team"]), str(entry["person"]))
            left.pop(key, None)
            if entry["kind"] == _ANNOUNCED:
                left[key] = Rescue(*key, entry["by"], entry["reason"], datetime.fromisoformat(entry["due"]))
        return _Told(left)


_TOLD = followed.Followed({_ANNOUNCED, _WITHDRAWN, _CARRIED_OUT}, _Told(), _Told.after)


# Questions


def waiting(workspace_id: UUID) -> list[Rescue]:
    """Those that can still be withdrawn or carried out, the oldest first. Raises about.Broken."""
    now = rows.now()
    return sorted((one for one in _TOLD.of(workspace_id).open.values() if one.lapses > now), key=lambda one: one.due)


def told(workspace_id: UUID) -> list[dict[str, Any]]:
    """The same for a page, by the names of people and teams; nothing while the ledger proves nothing."""
    try:
        found = waiting(workspace_id)
    except about.Broken:
        return []
    if not found:
        return []
    folk = people.names(key for one in found for who in (one.person, one.by) if (key := _key(Person, who)))
    teams = Team.objects.filter(pk__in=[_key(Team, one.team) for one in found])
    named = {rows.public_id(Person.PREFIX, key): name for key, name in folk.items()}
    named |= {team.public_id: team.name for team in teams}
    return [
        {"who": named.get(one.by, one.by), "person": named.get(one.person, one.person)}
        | {"team": named.get(one.team, one.team), "reason": one.reason, "due": one.due}
        for one in found
    ]


def _key(of: Any, public_id: str) -> UUID | None:
    return rows.parse_id(of.PREFIX, public_id)


def needless(team: Team, person: Person) -> Refused | None:
    """Why nobody needs a rescue to let this person decide for the team; None where it is the only way. Raises
    about.Broken, PolicyFault."""
    opinion = policies.changing(team.workspace_id, "team", changes.of_team(team, joining=person).document)
    if opinion is None:
        return Refused("not_needed", "No rule wants this approved: `people grant` gives the right.")
    if opinion.rule is None or opinion.verdict != "require_approval":
        return Refused("not_judged", f"The policy refuses it, and lost nobody: {opinion.reason}")
    if _can_be_met(team.workspace_id, opinion.rule):
        told = f"By the ledger enough people may decide under rule {opinion.rule_id}: ask them."
        return Refused("not_needed", f"{told} If that cannot be, `ledger verify` says why.")
    return None


def _can_be_met(workspace_id: UUID, rule: Mapping[str, Any]) -> bool:
    """Whether there is a member who could ask so that others could approve it, all by the ledger alone: rows that
    somebody took away past Placet make no team a lost one."""
    needed = bars.seats(rule)
    able, members = vouched.able(workspace_id, needed), vouched.members(workspace_id)
    barred = [{key} for key in members] if rule["prevent_self_review"] else [set[UUID]()]
    return any(
        bars.filled(needed, [seats for key, seats in able.items() if key not in without]) == len(needed)
        for without in barred
    )


# Verbs


def announce(workspace: Workspace, team: Team, person: Person, *, by: Person, reason: str) -> Rescue | Refused:
    """Say that somebody is to decide for a team, and tell everybody. Raises about.Broken, PolicyFault."""
    said = words.spoken(reason.replace("\x00", ""))
    with rows.within(workspace):
        _one_at_a_time(workspace)
        if refused := _not_allowed(workspace, by) or _unfit(team, person) or _badly_said(said):
            return refused
        if refused := needless(team, person) or _not_their_turn(team, person):
            return refused
        due = rows.now() + HOLD
        one = Rescue(team.public_id, person.public_id, by.public_id, said, due)
        if any(one.key == other.key for other in waiting(workspace.pk)):
            return Refused("waits_already", "It was announced already.")
        body = one.body | {"reason": said, "due": revisions.instant(due)}
        entries.append(workspace.pk, followed.CHAIN, _ANNOUNCED, body, by=by.public_id)
        _tell(workspace, team, person, by, "announced", one)
    return one


def withdraw(workspace: Workspace, team: Team, person: Person, *, by: Person) -> Refused | None:
    """Take one back, for each administrator. Raises about.Broken."""
    with rows.within(workspace):
        _one_at_a_time(workspace)
        one = _found(workspace, team, person)
        if refused := _not_allowed(workspace, by) or _none(one):
            return refused
        assert one is not None
        entries.append(workspace.pk, followed.CHAIN, _WITHDRAWN, one.body, by=by.public_id)
        _tell(workspace, team, person, by, "withdrawn", one)
    return None


def carry_out(workspace: Workspace, team: Team, person: Person, *, by: Person) -> Refused | None:
    """Give the right, once everybody had their time, if there is no other way yet. Raises about.Broken, PolicyFault."""
    with rows.within(workspace):
        _one_at_a_time(workspace)
        policies.lock(workspace)
        one = _found(workspace, team, person)
        if refused := _not_allowed(workspace, by) or _none(one) or _unfit(team, person):
            return refused
        assert one is not None
        if one.due > rows.now():
            return Refused("not_yet", f"It waits until {one.due:%Y-%m-%d %H:%M} UTC, so that it can be withdrawn.")
        if refused := needless(team, person) or _not_their_turn(team, person):
            return refused
        entries.append(workspace.pk, followed.CHAIN, _CARRIED_OUT, one.body, by=by.public_id)
        people.give(person, "decide", team, by=by.public_id)
        _tell(workspace, team, person, by, "carried out", one)
    return None


def _one_at_a_time(workspace: Workspace) -> None:
    rows.one_at_a_time(f"rescue {workspace.pk.hex}")


def _found(workspace: Workspace, team: Team, person: Person) -> Rescue | None:
    key = (team.public_id, person.public_id)
    return next((one for one in waiting(workspace.pk) if one.key == key), None)


def _none(one: Rescue | None) -> Refused | None:
    return None if one else Refused("not_found", "No such rescue waits.")


def _not_allowed(workspace: Workspace, by: Person) -> Refused | None:
    if vouched.may(by, "administer", workspace):
        return None
    return Refused("not_allowed", f"{by.email} does not administer the workspace.")


def _unfit(team: Team, person: Person) -> Refused | None:
    held = Membership.objects.select_for_update().filter(workspace_id=team.workspace_id, person=person)
    if not held or not person.is_active or person.pk not in vouched.members(team.workspace_id):
        return Refused("not_a_member", f"{person.email} is no active member of the workspace.")
    if people.may(person, "decide", team):
        return Refused("not_needed", f"{person.email} decides for {team.name} already.")
    return None


def _not_their_turn(team: Team, person: Person) -> Refused | None:
    first = vouched.former(team) & vouched.members(team.workspace_id)
    if not first or person.pk in first:
        return None
    named = ", ".join(sorted(people.names(first).values()))
    return Refused("others_first", f"{named} decided for {team.name} before, and would have to come back first.")


def _badly_said(said: str) -> Refused | None:
    if said and len(said) <= REASON_MAX:
        return None
    return Refused("needs_message", f"Say why, in at most {REASON_MAX} characters.", pointer="/reason")


def _tell(workspace: Workspace, team: Team, person: Person, by: Person, what: str, one: Rescue) -> None:
    """A letter to each member, whoever did it as well: their name was used; and to those who decided for the team once,
    for somebody may have seen to it that they are no members."""
    concerned = Q(memberships__workspace=workspace) | Q(pk__in=vouched.former(team))
    everybody = Person.objects.filter(concerned, is_active=True).distinct().order_by("email")
    told = {"who": by.name, "person": person.name, "team": team.name, "what": what, "reason": one.reason}
    told |= {"workspace": workspace.name, "slug": workspace.slug}
    subject = f"{workspace.name}: a rescue was {what}"
    letters.tell_all(
        [each.email for each in everybody if each.address_holds()], subject, "rescue", told | {"due": one.due}
    )
