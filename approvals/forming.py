"""Forming: how a team comes into being and is called, as the ledger is told."""

from __future__ import annotations

from approvals import vouched
from approvals.ledger import entries
from approvals.people import Team, Workspace


def form(workspace: Workspace, slug: str, name: str, *, by: str) -> Team:
    """The team of this slug, new if need be; inside an open `rows.within`. Raises ledger.about.Broken."""
    if known := vouched.team(workspace.pk, slug):
        return known
    team, new = Team.objects.get_or_create(workspace=workspace, slug=slug, defaults={"name": name})
    if new:
        body = {"team": team.public_id, "slug": slug, "name": name}
        entries.append(workspace.pk, "workspace", "team.formed", body, by=by)
    return team


def rename(team: Team, name: str, *, by: str) -> None:
    """Give a team another name; inside an open `rows.within`. Rules name it by its slug, which stays. The same name
    again changes nothing."""
    if name == team.name:
        return
    Team.objects.filter(pk=team.pk).update(name=name)
    body = {"team": team.public_id, "slug": team.slug, "name": name}
    entries.append(team.workspace_id, "workspace", "team.renamed", body, by=by)
    team.name = name
