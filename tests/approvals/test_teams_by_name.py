"""Teams by their names: the ledger says which team is called what, and no row."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from approvals import cast as forming
from approvals import changes, invitations, people, policies, rows, vouched
from approvals.approvals import Approval
from approvals.people import Person, Team
from approvals.policies import NeedsApproval
from approvals.votes import Refused
from tests.approvals.test_invitations import NEW, join
from tests.cast import POLICY, Cast, formed

FINANCE = "{required: [team], properties: {team: {const: finance}}}"
RULE = f"""
  - id: who-pays
    match: {{kind: change, tool: change.team, when: {FINANCE}}}
    verdict: require_approval
    approvals: [{{team: finance}}]
"""


def swapped(cast: Cast, interns: Team) -> None:
    """Each of the two teams gets the other's name, past Placet."""
    for team, slug in ((cast.finance, "nobody"), (interns, "finance"), (cast.finance, "interns")):
        Team.objects.filter(pk=team.pk).update(slug=slug)


@pytest.fixture
def interns(cast: Cast) -> Team:
    policies.load(cast.northwind, POLICY + RULE, by="system")
    return formed(cast.northwind, "interns")


def _decide(person: Person) -> set[str]:
    held = people.rights_of(person, person.memberships.get().workspace)
    return {str(thing.pk) for right, thing in held if right == "decide"}


def test_a_right_is_given_on_the_team_that_the_ledger_calls_so(cast: Cast, interns: Team) -> None:
    """AU-2: `people grant … team:interns` where the rows say that Finance is called so."""
    swapped(cast, interns)
    call_command("people", "grant", cast.riley.email, "decide", "team:interns", "--workspace", "northwind")
    assert _decide(cast.riley) == {str(interns.pk)} and vouched.unexplained(cast.northwind.pk) == []


def test_a_file_of_people_names_teams_as_the_ledger_does(cast: Cast, interns: Team) -> None:
    """AU-2: `people load`."""
    swapped(cast, interns)
    who = {"email": cast.riley.email, "name": cast.riley.name}
    team = {"slug": "interns", "name": "Interns", "deciders": [cast.riley.email]}
    place = {"slug": "northwind", "name": cast.northwind.name, "members": [cast.riley.email], "teams": [team]}
    forming.load({"people": [who], "workspaces": [place]}, passwords={}, by="system")
    assert _decide(cast.riley) == {str(interns.pk)}


def test_no_team_gets_past_its_rule_under_another_name(cast: Cast, interns: Team) -> None:
    """AZ-9: the rule is about Finance, whatever its row is called."""
    swapped(cast, interns)
    with pytest.raises(NeedsApproval):
        people.grant(cast.riley, "decide", Team.objects.get(pk=cast.finance.pk), by="system")
    with rows.reading(cast.northwind):
        answer = invitations.invite(cast.northwind, NEW, teams=["finance"], by=None)
    assert isinstance(answer, Refused) and answer.code == "needs_approval"


def test_an_approved_change_is_of_the_team_that_people_saw(cast: Cast, interns: Team) -> None:
    """AZ-9: swapped after it was asked for."""
    change = changes.of_team(cast.finance, joining=cast.riley)
    approval = changes.propose(cast.northwind, change, by=cast.omar)
    assert isinstance(approval, Approval)
    swapped(cast, interns)
    with rows.within(cast.northwind):
        changes._team(changes.Approved(cast.northwind, approval, change.document, 2))
    assert _decide(cast.riley) == {str(cast.finance.pk)}


def test_an_invitation_leads_into_the_team_that_was_named(cast: Cast, interns: Team) -> None:
    """AU-2: swapped between the letter and the click."""
    invited = invitations.invite(cast.northwind, NEW, teams=["interns"], by=cast.omar)
    assert isinstance(invited, tuple)
    swapped(cast, interns)
    join(invited[1])
    assert _decide(Person.objects.get(email=NEW)) == {str(interns.pk)}
