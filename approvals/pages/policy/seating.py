"""Who takes the seats that the rules name: the teams of a document with the people who may decide for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from approvals import escalation, people, policy_glass
from approvals.people import Person, Team, Workspace


@dataclass(frozen=True)
class Seat:
    """A team that rules name, with its people; ``name`` is its slug where the workspace has no such team."""

    slug: str
    name: str
    people: tuple[Person, ...]


def seating(workspace: Workspace, rules: Iterable[Mapping[str, Any]]) -> list[Seat]:
    """The teams in the order in which the rules name them; two queries however many."""
    slugs = named({"rules": list(rules)})
    known = dict(Team.objects.filter(workspace=workspace, slug__in=slugs).values_list("slug", "name"))
    able = people.deciders_of(workspace.pk, slugs)
    folk = Person.objects.filter(pk__in=able).order_by("name", "pk")
    return [Seat(slug, known.get(slug, slug), tuple(one for one in folk if slug in able[one.pk])) for slug in slugs]


def named(*documents: Mapping[str, Any]) -> list[str]:
    """The teams that the rules of these documents name, each once."""
    return list(dict.fromkeys(team for document in documents for rule in document["rules"] for team in _teams(rule)))


def _teams(rule: Mapping[str, Any]) -> Iterator[str]:
    yield from (need["team"] for need in rule["approvals"])
    yield from (team for level in escalation.levels(rule) for team in level["teams"])
    yield from (team for _, team in policy_glass.teams(rule))
