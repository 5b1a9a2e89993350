"""The pages of teams: formed, renamed, and who decides for one."""

from __future__ import annotations

from collections import Counter

import pytest
from django.test import Client

from approvals import evidence, people, policies, rows
from approvals.approvals import Approval
from approvals.people import Team
from approvals.revisions import current_revision
from tests.approvals.pages.test_person import CHANGES, words
from tests.cast import POLICY, Cast, say
from tests.confirmed import confirmed

TEAMS = "/w/northwind/teams"


@pytest.fixture
def omar(cast: Cast) -> Client:
    return confirmed(cast.omar)


def page_of(team: Team) -> str:
    return f"{TEAMS}/{team.public_id}"


def test_the_list_tells_who_decides_and_which_rules_ask(omar: Client) -> None:
    page = words(omar.get(TEAMS))
    assert "Finance finance 2 people refunds , large-refunds ×2" in page and "Form a team" in page


def test_a_team_is_formed_and_said_who_decides_for_it(omar: Client, cast: Cast) -> None:
    answer = omar.post(f"{TEAMS}/new", {"name": "  Care & Support "})
    team = Team.objects.get(slug="care-support")
    assert answer["Location"] == page_of(team) and "Nobody yet." in words(omar.get(page_of(team)))
    omar.post(f"{page_of(team)}/deciders", {"do": "give", "person": cast.riley.public_id})
    assert people.deciders(team) == [cast.riley]
    omar.post(f"{page_of(team)}/deciders", {"do": "take", "person": cast.riley.public_id})
    assert people.deciders(team) == []


@pytest.mark.parametrize(
    ("name", "said"), [("Finance", "There is a team finance already."), (" ", "A name of 1 to 80"), ("—", "a letter")]
)
def test_a_name_that_is_none_is_refused_at_its_field(name: str, said: str, omar: Client) -> None:
    answer = omar.post(f"{TEAMS}/new", {"name": name})
    assert answer.status_code == 422 and said in words(answer) and 'aria-invalid="true"' in answer.content.decode()
    assert Team.objects.count() == 1


def test_a_team_is_renamed_and_the_ledger_knows(omar: Client, cast: Cast) -> None:
    omar.post(f"{page_of(cast.finance)}/rename", {"name": "Money"})
    page = words(omar.get(page_of(cast.finance)))
    assert "Rules keep naming it finance" in page and "It is called Money now." in page
    assert list(evidence.unproven(cast.northwind.pk)) == []
    with rows.within(cast.northwind):
        Team.objects.filter(pk=cast.finance.pk).update(name="Finance")
    assert any("is called Finance" in told for told in evidence.unproven(cast.northwind.pk))


def test_a_new_name_is_approved_first_where_the_policy_wants_it(omar: Client, cast: Cast) -> None:
    policies.load(cast.northwind, POLICY + CHANGES, by="system")
    omar.post(f"{page_of(cast.finance)}/rename", {"name": "Money"})
    approval = Approval.objects.get()
    assert "A change of this team waits for people" in words(omar.get(page_of(cast.finance)))
    assert current_revision(approval).number == 1
    say(approval, cast.dana, "approve")
    cast.finance.refresh_from_db()
    assert cast.finance.name == "Money" and len(people.deciders(cast.finance)) == 2


def test_which_rules_nobody_could_satisfy_is_said_before_somebody_goes(omar: Client, cast: Cast) -> None:
    deed = {"do": "take", "person": cast.dana.public_id}
    answer = omar.post(f"{page_of(cast.finance)}/deciders", deed)
    assert answer.status_code == 409 and "Nobody could satisfy rule large-refunds any more" in words(answer)
    omar.post(f"{page_of(cast.finance)}/deciders", deed | {"sure": "yes"})
    page = words(omar.get(page_of(cast.finance)))
    assert people.deciders(cast.finance) == [cast.priya] and "Nobody can satisfy it now" in page


def test_who_does_not_administer_reads_why_and_changes_nothing(cast: Cast) -> None:
    """AZ-1."""
    dana = confirmed(cast.dana)
    page = words(dana.get(page_of(cast.finance)))
    assert "Changed by those who administer the workspace: Omar Haddad." in page and "Rename it" not in page
    posts = {f"{TEAMS}/new": {"name": "Mine"}, f"{page_of(cast.finance)}/rename": {"name": "Mine"}}
    posts[f"{page_of(cast.finance)}/deciders"] = {"do": "give", "person": cast.riley.public_id}
    assert Counter(dana.post(path, form).status_code for path, form in posts.items()) == {403: 3}
    late = confirmed(cast.omar, ago=4000)
    assert all(late.post(path, form)["Location"].startswith("/accounts/") for path, form in posts.items())
    assert Team.objects.get().name == "Finance" and cast.riley not in people.deciders(cast.finance)
