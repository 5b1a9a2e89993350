"""Teams, as somebody who administers a workspace forms and renames them. Who decides for one is `rights`' matter."""

from __future__ import annotations

from typing import Any, Final

from django.utils.text import slugify

from approvals import changes, forming, policies, rows, vouched
from approvals.approvals import Approval
from approvals.changes import Change
from approvals.ledger.about import Broken
from approvals.people import Person, Team, Workspace
from approvals.policy_text import PolicyFault
from approvals.votes import Refused

NAME_MOST: Final = 80
SLUG_MOST: Final = 40


def seats_in(rules: list[dict[str, Any]], slug: str) -> list[tuple[str, int]]:
    """The rules that ask a team, each with how many of it."""
    return [(str(rule["id"]), need["count"]) for rule in rules for need in rule["approvals"] if need["team"] == slug]


def of_name(team: Team, name: str) -> Change:
    """Another name for a team, as people approve it."""
    before = changes.described(team)
    return Change("team", team.slug, f"The name of {team.name}"[:200], before | {"name": name}, before)


def create(workspace: Workspace, name: str, *, by: Person | None) -> Team | Refused:
    """A new team, of nobody yet. Its slug, by which rules name it, is made of its name and stays."""
    name = _clean(name)
    with rows.within(workspace):
        if refused := _not_allowed(workspace, by) or _no_name(name):
            return refused
        rows.one_at_a_time(f"teams {workspace.pk.hex}")
        slug = slugify(name)[:SLUG_MOST].strip("-")
        if not slug:
            return Refused("invalid_name", "A name has a letter or a figure in it.", pointer="/name")
        if Team.objects.filter(workspace=workspace, slug=slug).exists():
            return Refused("taken", f"There is a team {slug} already.", pointer="/name")
        try:
            return forming.form(workspace, slug, name, by=by.public_id if by else "system")
        except Broken as fault:
            return Refused("tampered", str(fault))


def rename(team: Team, name: str, *, by: Person | None, reason: str = "") -> Approval | Refused | None:
    """Call a team otherwise: people are told whom they ask by its name. Where the policy wants changes of the team
    approved, people are asked first, and the approval is returned."""
    workspace, name = Workspace.objects.get(pk=team.workspace_id), _clean(name)
    with rows.within(workspace):
        if refused := _not_allowed(workspace, by) or _no_name(name):
            return refused
        if name == team.name:
            return Refused("same_name", "It is called that already.", pointer="/name")
        try:
            change = of_name(team, name)
            asked = policies.changing(workspace.pk, "team", change.document)
        except (PolicyFault, Broken) as fault:
            return Refused("tampered", str(fault))
        if asked is None:
            forming.rename(team, name, by=by.public_id if by else "system")
            return None
        if by is None:
            return Refused("needs_approval", f"Rule {asked.rule_id} wants this approved: say who wants it.")
        return changes.propose(workspace, change, by=by, reason=reason)


def _clean(name: str) -> str:
    return " ".join(name.replace("\x00", "").split())


def _no_name(name: str) -> Refused | None:
    if 0 < len(name) <= NAME_MOST:
        return None
    return Refused("invalid_name", f"A name of 1 to {NAME_MOST} characters.", pointer="/name")


def _not_allowed(workspace: Workspace, by: Person | None) -> Refused | None:
    if by is None or vouched.may(by, "administer", workspace):
        return None
    return Refused("not_allowed", "Only those who administer the workspace may form and rename teams.")
