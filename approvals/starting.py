"""Starting: the first policy of a workspace, out of a few that fit in a sentence, and how far a workspace has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.text import slugify

from approvals import cast, people, policies, policy_source, policy_switching, rows, vouched
from approvals.approvals import Approval
from approvals.people import Person, Workspace
from approvals.policies import Policy, PolicyFault
from approvals.votes import Refused

NAME_MOST: Final = 80


@dataclass(frozen=True)
class Way:
    """A first policy: ``sentence`` with the team's name in it, and how many of the team say yes."""

    key: str
    sentence: str
    count: int
    reading: bool = False


WAYS: Final = (
    Way("each", "One of {} says yes to every call.", 1),
    Way("reading", "What only reads goes at once. One of {} says yes to everything else.", 1, reading=True),
    Way("two", "Two of {} say yes to every call.", 2),
)


@dataclass(frozen=True)
class Come:
    """How far a workspace has come, by what there is: the version in force, the oldest call that waits, and whether
    people ever approved one."""

    version: int
    waits: Approval | None
    approved: bool


# Questions


def come(workspace: Workspace) -> Come:
    """How far it has come; inside `rows.within`."""
    asked = Approval.objects.filter(workspace=workspace, kind=Approval.Kind.CALL)
    return Come(
        policies.current_version(workspace.pk),
        asked.filter(status=Approval.Status.PENDING).order_by("created_at").first(),
        asked.filter(status=Approval.Status.APPROVED).exists(),
    )


def members(workspace: Workspace) -> list[Person]:
    """Those who may be chosen."""
    found = Person.objects.filter(memberships__workspace=workspace, is_active=True)
    return list(found.order_by("name", "pk")[:200])


# The verb


def begin(
    workspace: Workspace, *, by: Person, team: str, chosen: Sequence[str], way: str, reads: Sequence[str]
) -> Policy | Refused:
    """Form a team of these people, by their public ids, and put the first policy in force; all of it or nothing.
    ``reads`` are the tools that only read."""
    wanted = next((each for each in WAYS if each.key == way), None)
    folk = [person for person in members(workspace) if person.public_id in chosen]
    if refused := _unfit(workspace, by, team, folk, wanted):
        return refused
    assert wanted is not None, "that was looked at"
    slug = slugify(team)[:40].strip("-_") or "approvers"
    text = policy_source.text({"policy": 1, "rules": _rules(wanted, slug, sorted(reads))})
    try:
        with rows.within(workspace):
            formed = cast.form(workspace, slug, team, by=by.public_id)
            for person in folk:
                people.grant(person, "decide", formed, by=by.public_id)
            answer = policy_switching.switch_on(workspace, text, by=by, based_on=0)
            if not isinstance(answer, Policy):
                raise _Late
    except _Late:
        return _late()
    except PolicyFault as fault:
        return Refused("invalid", fault.message, pointer="/team")
    return answer


class _Late(Exception):
    """A policy came into force meanwhile: nothing of this is kept."""


def _late() -> Refused:
    return Refused("too_late", "A policy is in force already. Change that one.")


def _unfit(workspace: Workspace, by: Person, team: str, folk: list[Person], way: Way | None) -> Refused | None:
    if not vouched.may(by, "administer", workspace):
        return Refused("not_allowed", "Only those who administer the workspace say who may say yes.")
    if policies.current_version(workspace.pk):
        return _late()
    if not team or len(team) > NAME_MOST:
        return Refused("invalid", f"Give the team a name of at most {NAME_MOST} characters.", pointer="/team")
    if way is None:
        return Refused("invalid", "Choose one of the sentences.", pointer="/way")
    if len(folk) < way.count:
        told = "Choose at least one person." if way.count == 1 else f"Choose at least {way.count} people."
        return Refused("invalid", told, pointer="/people")
    return None


def _rules(way: Way, team: str, reads: list[str]) -> list[dict[str, Any]]:
    first = [{"id": "reading", "match": {"tool": reads}, "verdict": "allow"}] if way.reading and reads else []
    asked = {"team": team} | ({"count": way.count} if way.count > 1 else {})
    return [*first, {"id": "every-call", "match": {}, "verdict": "require_approval", "approvals": [asked]}]
