"""Who belongs where and who may do what, read from the database at the moment of asking."""

from __future__ import annotations

import pytest
from guardian.models import UserObjectPermission
from guardian.shortcuts import assign_perm

from approvals import approvals, departures, evidence, gate, people, vouched, workspaces
from approvals.decisions import Refused
from approvals.ledger import entries
from approvals.people import Membership, Person
from tests.cast import Cast, ask, formed, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")


def test_a_right_is_held_on_exactly_one_thing(cast: Cast) -> None:
    other = formed(cast.northwind, "care")
    assert people.may(cast.dana, "decide", cast.finance)
    assert not people.may(cast.dana, "decide", other)
    assert not people.may(cast.dana, "administer", cast.northwind)


def test_without_membership_a_right_is_void(cast: Cast) -> None:
    """AZ-1, CH-B116."""
    people.leave(cast.dana, cast.northwind, by="system")
    assert not people.may(cast.dana, "decide", cast.finance)
    assert workspaces.entered(cast.dana, "northwind") is None
    assert people.deciders(cast.finance) == [cast.priya]


def test_a_right_is_never_given_to_an_outsider(cast: Cast) -> None:
    with pytest.raises(ValueError, match="no member"):
        people.grant(cast.oskar, "decide", cast.finance, by="system")


def test_neither_rank_nor_a_right_on_all_teams_makes_an_approver(cast: Cast) -> None:
    """AZ-9, AZ-10, F14."""
    assign_perm("approvals.decide", cast.omar)
    Person.objects.filter(pk=cast.riley.pk).update(is_superuser=True)
    cast.riley.refresh_from_db()
    assert people.deciders(cast.finance) == [cast.dana, cast.priya]
    assert not people.may(cast.omar, "decide", cast.finance)
    assert not people.may(cast.riley, "decide", cast.finance)


def test_inactive_people_are_nobody(cast: Cast) -> None:
    """AZ-10, CH-B116."""
    Person.objects.filter(pk=cast.dana.pk).update(is_active=False)
    assert people.deciders(cast.finance) == [cast.priya]
    assert people.teams_decided_by(cast.dana, cast.northwind.pk) == set()


def test_an_empty_team_is_nobody(cast: Cast) -> None:
    """ID-10, CH-B27."""
    care = formed(cast.northwind, "care")
    assert people.deciders(care) == []


def test_a_foreign_and_an_unknown_workspace_are_alike(cast: Cast) -> None:
    """AP-I6, WB-4."""
    assert workspaces.entered(cast.oskar, "northwind") is None
    assert workspaces.entered(cast.oskar, "no-such") is None
    assert workspaces.entered(cast.oskar, "halden") == cast.halden


def test_granting_and_taking_away_are_in_the_ledger(cast: Cast) -> None:
    people.revoke(cast.dana, "decide", cast.finance, by=cast.omar.public_id)
    last = entries.read(cast.northwind.pk, "workspace")[-1]
    assert (last["kind"], last["person"], last["by"]) == ("right.revoked", cast.dana.public_id, cast.omar.public_id)


def test_every_right_in_force_is_explained_by_the_ledger(cast: Cast) -> None:
    assert vouched.unexplained(cast.northwind.pk) == []


def test_a_right_written_past_placet_is_found(cast: Cast) -> None:
    """T38: who writes himself into a team shows."""
    Membership.objects.create(workspace=cast.northwind, person=cast.oskar)
    assign_perm("decide", cast.oskar, cast.finance)
    told = vouched.unexplained(cast.northwind.pk)
    assert told == [
        "No entry made oskar@halden.example a member.",
        f"No entry gave oskar@halden.example the right to decide {cast.finance.public_id}.",
    ]


def test_a_removed_team_leaves_no_right_behind_for_its_successor(cast: Cast) -> None:
    """AZ-11: keys are never used again, so a left-over permission row opens nothing."""
    UserObjectPermission.objects.filter(object_pk=str(cast.finance.pk)).exists()
    new = formed(cast.northwind, "finance-2", "Finance")
    assert people.deciders(new) == []


def test_teams_of_a_person_in_one_bounded_query(cast: Cast) -> None:
    """AZ-12."""
    assert people.teams_decided_by(cast.priya, cast.northwind.pk) == {"finance"}
    assert people.teams_decided_by(cast.priya, cast.halden.pk) == set()


@pytest.mark.committed
def test_a_team_that_takes_anothers_name_decides_nothing_of_its(cast: Cast, tamper: Tamper) -> None:
    """AZ-1: which team a seat belongs to is the ledger's to say, and no column's."""
    people.grant(cast.omar, "decide", formed(cast.northwind, "interns"), by="system")
    approval = ask(cast, refund())
    tamper("UPDATE approvals_team SET slug = 'was-finance' WHERE slug = 'finance'")
    tamper("UPDATE approvals_team SET slug = 'finance' WHERE slug = 'interns'")
    answer = say(approval, cast.omar, "approve")
    assert isinstance(answer, Refused) and answer.code == "tampered"
    assert len([told for told in evidence.unproven(cast.northwind.pk) if "by the ledger otherwise" in told]) == 2


@pytest.mark.committed
def test_a_team_that_took_anothers_name_let_nothing_run(cast: Cast, tamper: Tamper) -> None:
    """The same of a yes that was taken before."""
    approval, interns = ask(cast, refund()), formed(cast.northwind, "interns")
    say(approval, cast.dana, "approve")
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    people.grant(cast.dana, "decide", interns, by="system")
    tamper("UPDATE approvals_team SET slug = 'was-finance' WHERE slug = 'finance'")
    tamper("UPDATE approvals_team SET slug = 'finance' WHERE slug = 'interns'")
    answer = gate.clearance(approval.workspace_id, approval.subject, approvals.current_revision(approval).digest)
    assert isinstance(answer, gate.NotCleared) and answer.code == "tampered"


@pytest.mark.committed
@pytest.mark.parametrize("verdict", ["reject", "edit", "approve"])
def test_who_was_switched_on_by_hand_decides_nothing(cast: Cast, tamper: Tamper, verdict: str) -> None:
    """An edit voids the votes of others, and a no ends what they approve: neither is theirs either."""
    approval = ask(cast, refund(200_000))
    departures.deactivate(cast.dana, by="system")
    tamper("UPDATE approvals_person SET is_active = true")
    dana = Person.objects.get(pk=cast.dana.pk)
    answer = say(approval, dana, verdict, message="No.", edited=refund(150_000))
    assert isinstance(answer, Refused) and answer.code == "tampered"
