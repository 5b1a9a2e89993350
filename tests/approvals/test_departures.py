"""Leaving: what speaks for a person ends with them, at once and everywhere."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from approvals import clearance, departures, people, resets, rows, signin, vouched
from approvals.clearance import Cleared, NotCleared
from approvals.decisions import Refused, standing
from approvals.ledger import entries
from approvals.pages.reader import Reader
from approvals.people import Person
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.approvals.pages.conftest import reads as reads  # a fixture
from tests.approvals.test_invitations import NEW, invite, join
from tests.approvals.test_signin import is_in, sign_in
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def test_a_deactivated_person_is_out_with_every_session_link_and_form(cast: Cast) -> None:
    """AZ-17, WB-7, CH-B116: the form that was open decides nothing, and coming back revives no session."""
    approval = ask(cast, refund())
    client, _ = sign_in(cast.dana)
    form, token = form_of(approval, verdict="approve"), resets.make(cast.dana)
    departures.deactivate(cast.dana, by=cast.omar.public_id)
    assert client.post(at(approval, "/decision"), form)["Location"].startswith("/accounts/login/")
    assert not approval.decisions.exists() and not is_in(client)
    assert resets.open_with(token) is None and not is_in(sign_in(cast.dana)[0])
    departures.reactivate(cast.dana, by=cast.omar.public_id)
    assert not is_in(client) and is_in(sign_in(cast.dana)[0])


def test_votes_of_a_deactivated_person_stop_counting(cast: Cast) -> None:
    """AZ-17: the first of two yeses, and the only one of a call that was not sent yet."""
    large, small = ask(cast, refund(200_000)), ask(cast, refund())
    say(large, cast.dana, "approve")
    say(small, cast.dana, "approve")
    departures.deactivate(cast.dana, by="system")
    say(large, cast.priya, "approve")
    large.refresh_from_db()
    assert large.status == "pending"
    digest = small.revisions.get(number=1).digest
    assert isinstance(clearance.clearance(cast.northwind.pk, small.subject, digest), NotCleared)


def test_a_deactivation_is_in_the_ledger_of_each_workspace_once(cast: Cast) -> None:
    people.join(cast.dana, cast.halden, by="system")
    for _ in range(2):
        departures.deactivate(cast.dana, by="system")
    for workspace in (cast.northwind, cast.halden):
        with rows.reading(workspace):
            kinds = [one["kind"] for one in entries.read(workspace.pk, "workspace")]
        assert kinds.count("person.deactivated") == 1


def test_who_was_switched_on_again_past_placet_is_named_and_counts_nowhere(cast: Cast) -> None:
    """CH-B116: a row that was changed in the database opens nothing."""
    approval = ask(cast, refund())
    departures.deactivate(cast.dana, by="system")
    Person.objects.filter(pk=cast.dana.pk).update(is_active=True)
    assert vouched.unexplained(cast.northwind.pk) == [f"No entry switched {cast.dana.email} on again."]
    for verdict in ("approve", "edit", "reject"):
        answer = say(approval, cast.dana, verdict, message="No.", edited=refund(41_000))
        assert isinstance(answer, Refused) and answer.code == "tampered"
    digest = approval.revisions.get(number=1).digest
    assert isinstance(clearance.clearance(cast.northwind.pk, approval.subject, digest), NotCleared)


def test_leaving_a_workspace_takes_its_rights_and_coming_back_gives_none(cast: Cast) -> None:
    """AZ-17: a right does not wait for somebody to return."""
    people.leave(cast.dana, cast.northwind, by="system")
    people.join(cast.dana, cast.northwind, by="system")
    assert cast.dana not in people.deciders(cast.finance)
    assert not vouched.unexplained(cast.northwind.pk)


def test_leaving_one_workspace_leaves_the_other(cast: Cast) -> None:
    people.join(cast.dana, cast.halden, by="system")
    client, _ = sign_in(cast.dana)
    people.leave(cast.dana, cast.northwind, by="system")
    assert client.get("/w/northwind/").status_code == 404 and client.get("/w/halden/").status_code == 200


def test_an_invitation_ends_with_who_is_switched_off(cast: Cast) -> None:
    """AZ-17: a link that was sent before."""
    join(invite(cast))
    nora = Person.objects.get(email=NEW)
    people.leave(nora, cast.northwind, by="system")
    token = invite(cast)
    people.join(nora, cast.northwind, by="system")
    departures.deactivate(nora, by="system")
    assert Client().get("/accounts/join/", {"token": token}).status_code == 404


def test_other_rooms_end_what_is_theirs_in_the_same_transaction(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(people, "LEAVING", [lambda person, workspace, by: ended.append(f"{workspace.slug} {by}")])
    people.leave(cast.priya, cast.northwind, by="system")
    departures.deactivate(cast.dana, by=cast.omar.public_id)
    assert ended == ["northwind system", f"northwind {cast.omar.public_id}"]


@pytest.mark.parametrize("verb", ["deactivate", "sign-out", "leave"])
def test_an_operator_lets_somebody_go(verb: str, cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    more = ["--workspace", "northwind"] if verb == "leave" else []
    call_command("people", verb, cast.dana.email, *more, "--as", cast.omar.email)
    assert client.get("/w/northwind/").status_code in {302, 404}
    last = entries.read(cast.northwind.pk, "workspace")[-1]
    assert last["by"] == cast.omar.public_id and last["person"] == cast.dana.public_id


def test_an_operator_lets_somebody_in_again(cast: Cast) -> None:
    call_command("people", "deactivate", cast.dana.email)
    call_command("people", "reactivate", cast.dana.email)
    call_command("people", "drop-factors", cast.dana.email)
    assert is_in(sign_in(cast.dana)[0]) and not signin.factors(cast.dana)


def gone(cast: Cast, person: Person, how: str) -> None:
    """Somebody goes and comes back, with the rights they had."""
    if how == "deactivated":
        departures.deactivate(person, by=cast.omar.public_id)
        departures.reactivate(person, by=cast.omar.public_id)
        return
    people.leave(person, cast.northwind, by=cast.omar.public_id)
    people.join(person, cast.northwind, by=cast.omar.public_id)
    people.grant(person, "decide", cast.finance, by=cast.omar.public_id)


@pytest.mark.parametrize("how", ["deactivated", "left"])
def test_a_yes_from_before_somebody_was_gone_counts_no_more_and_they_may_say_it_again(cast: Cast, how: str) -> None:
    """AZ-17, CH-B116: coming back revives no vote; one given afterwards counts."""
    large = ask(cast, refund(200_000))
    say(large, cast.dana, "approve")
    gone(cast, cast.dana, how)
    say(large, cast.priya, "approve")
    large.refresh_from_db()
    assert large.status == "pending" and standing(large, cast.dana).filled == 1
    assert Reader(cast.northwind, cast.dana).counts()["for-you"] == 1
    say(large, cast.dana, "approve")
    large.refresh_from_db()
    assert large.status == "approved"


@pytest.mark.parametrize("how", ["deactivated", "left"])
def test_a_call_is_not_sent_on_the_yes_of_somebody_who_was_gone_since(cast: Cast, how: str) -> None:
    """AZ-17: it is asked about again, as where the voter is still away."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    digest = approval.revisions.get(number=1).digest
    assert isinstance(clearance.clearance(cast.northwind.pk, approval.subject, digest), Cleared)
    gone(cast, cast.dana, how)
    answer = clearance.clearance(cast.northwind.pk, approval.subject, digest)
    assert isinstance(answer, NotCleared) and answer.code == "votes_fall_short" and answer.lapsed


def test_the_list_counts_no_yes_from_before_somebody_was_gone(cast: Cast, reads: Reads) -> None:
    say(ask(cast, refund(200_000)), cast.dana, "approve")
    assert "1 of 2" in reads(cast.priya).get("/w/northwind/").content.decode()
    gone(cast, cast.dana, "deactivated")
    assert "0 of 2" in reads(cast.priya).get("/w/northwind/").content.decode()


@pytest.mark.committed
def test_a_right_that_is_given_while_somebody_leaves_does_not_wait_for_them(cast: Cast, together: Any) -> None:
    """AZ-17: however the two meet, whoever left holds nothing when they come back."""
    for _ in range(12):
        together(
            partial(people.grant, cast.riley, "decide", cast.finance, by="system"),
            partial(people.leave, cast.riley, cast.northwind, by="system"),
        )
        people.join(cast.riley, cast.northwind, by="system")
        assert cast.riley not in people.deciders(cast.finance)


@pytest.mark.parametrize("verb", ["deactivate", "reactivate", "sign-out", "drop-factors"])
def test_who_is_said_to_let_somebody_go_administers_a_workspace_of_theirs(verb: str, cast: Cast) -> None:
    """AZ-17: the ledger names nobody who had no part in it."""
    for nobody in (cast.oskar, cast.riley):
        with pytest.raises(CommandError, match="may not administer"):
            call_command("people", verb, cast.dana.email, "--as", nobody.email)
    assert "person.deactivated" not in [one["kind"] for one in entries.read(cast.northwind.pk, "workspace")]
