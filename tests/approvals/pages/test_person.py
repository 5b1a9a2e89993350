"""One person's page: rights that are given and taken, the sign-in, and everything that ends when they leave."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from approvals import absences, people, policies, rights, rows
from approvals.approvals import Approval
from approvals.invitations import Invitation
from approvals.ledger import entries
from approvals.people import Membership, Person
from tests.approvals.test_signin import sign_in
from tests.cast import POLICY, Cast, ask, refund, say
from tests.confirmed import confirmed
from tests.mailboxes import Mailbox

CHANGES = "  - {id: changes, match: {kind: change}, verdict: require_approval, approvals: [{team: finance}]}\n"


def words(answer: Any) -> str:
    """A page as it is read, without its tags."""
    return unescape(" ".join(re.sub("<[^>]*>", " ", answer.content.decode()).split()))


def page_of(person: Person) -> str:
    return f"/w/northwind/people/{person.public_id}"


@pytest.fixture
def omar(cast: Cast) -> Client:
    return confirmed(cast.omar)


def kinds(cast: Cast) -> list[tuple[str, str]]:
    return [(one["kind"], one["by"]) for one in entries.read(cast.northwind.pk, "workspace")]


def test_a_right_is_given_and_taken_with_an_entry_of_who_did(omar: Client, cast: Cast) -> None:
    """AZ-1."""
    right = f"audit:{cast.northwind.public_id}"
    omar.post(f"{page_of(cast.riley)}/give", {"right": right})
    assert people.may(cast.riley, "audit", cast.northwind) and "Reads everything in it" in words(
        omar.get(page_of(cast.riley))
    )
    omar.post(f"{page_of(cast.riley)}/take", {"right": right})
    assert not people.may(cast.riley, "audit", cast.northwind)
    assert kinds(cast)[-2:] == [
        ("right.granted", cast.omar.public_id),
        ("right.revoked", cast.omar.public_id),
    ]


def test_giving_takes_a_fresh_sign_in_and_taking_does_not(cast: Cast) -> None:
    """WB-6."""
    late, right = confirmed(cast.omar, ago=4000), f"decide:{cast.finance.public_id}"
    assert late.post(f"{page_of(cast.riley)}/give", {"right": right})["Location"].startswith("/accounts/")
    assert cast.riley not in people.deciders(cast.finance)
    late.post(f"{page_of(cast.priya)}/take", {"right": right, "sure": "yes"})
    assert cast.priya not in people.deciders(cast.finance)


def test_which_rules_nobody_could_satisfy_is_said_before_it_happens(omar: Client, cast: Cast) -> None:
    """large-refunds needs two of Finance, and there are two."""
    right = f"decide:{cast.finance.public_id}"
    answer = omar.post(f"{page_of(cast.dana)}/take", {"right": right})
    assert answer.status_code == 409 and cast.dana in people.deciders(cast.finance)
    assert "Nobody could satisfy rule large-refunds any more" in words(answer) and "rule refunds" not in words(answer)
    omar.post(f"{page_of(cast.dana)}/take", {"right": right, "sure": "yes"})
    assert cast.dana not in people.deciders(cast.finance)


def test_where_the_policy_wants_it_approved_people_are_asked(omar: Client, cast: Cast) -> None:
    policies.load(cast.northwind, POLICY + CHANGES, by="system")
    omar.post(f"{page_of(cast.riley)}/give", {"right": f"decide:{cast.finance.public_id}"})
    assert cast.riley not in people.deciders(cast.finance) and Approval.objects.get().tool == "change.team"
    assert "Riley Chen waits until people approved it" in words(omar.get(page_of(cast.riley)))


def test_the_last_one_who_administers_stays_so(omar: Client, cast: Cast) -> None:
    omar.post(f"{page_of(cast.omar)}/take", {"right": f"administer:{cast.northwind.public_id}"})
    assert "is the only one who administers" in words(omar.get(page_of(cast.omar)))
    omar.post(f"{page_of(cast.omar)}/deed", {"do": "leave"})
    assert people.may(cast.omar, "administer", cast.northwind)
    assert Membership.objects.filter(person=cast.omar).exists()


def test_everything_that_ends_is_said_and_ends(omar: Client, cast: Cast) -> None:
    """AZ-17."""
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    with rows.within(cast.northwind):
        until = rows.now().replace(microsecond=0) + absences.LONGEST / 2
        absences.announce(cast.northwind, cast.dana, kind="delegation", ends_at=until, deputy=cast.riley, by=cast.dana)
    page = words(omar.get(page_of(cast.dana)))
    told = ["Decides for Finance.", "1 approval that waits loses their vote.", "1 absence or loan of seats ends."]
    assert all(line in page for line in [*told, "Nobody could satisfy rule large-refunds any more"])
    assert omar.post(f"{page_of(cast.dana)}/deed", {"do": "leave"})["Location"] == "/w/northwind/people"
    assert not Membership.objects.filter(person=cast.dana).exists() and cast.dana not in people.deciders(cast.finance)
    assert omar.get(page_of(cast.dana)).status_code == 404


def test_somebody_is_switched_off_and_on(omar: Client, cast: Cast) -> None:
    """AZ-17."""
    dana, _ = sign_in(cast.dana)
    omar.post(f"{page_of(cast.dana)}/deed", {"do": "off"})
    assert dana.get("/w/northwind/").status_code == 302 and "Switched off" in words(omar.get("/w/northwind/people"))
    omar.post(f"{page_of(cast.dana)}/deed", {"do": "on"})
    assert sign_in(cast.dana)[0].get("/w/northwind/").status_code == 200
    omar.post(f"{page_of(cast.omar)}/deed", {"do": "off"})
    assert Person.objects.get(pk=cast.omar.pk).is_active


def test_a_link_to_a_new_password_goes_to_their_address_alone(omar: Client, cast: Cast, mailbox: Mailbox) -> None:
    """AU-4: who administers a workspace never reads it, or they would speak for its people."""
    answer = omar.post(f"{page_of(cast.dana)}/deed", {"do": "reset"}, follow=True)
    letter = mailbox.wait()
    assert letter["To"] == cast.dana.email and "token=" in str(letter) and "token=" not in answer.content.decode()
    assert ("reset.asked", cast.omar.public_id) in kinds(cast)


def test_without_mail_no_link_is_made(omar: Client, cast: Cast) -> None:
    answer = omar.post(f"{page_of(cast.dana)}/deed", {"do": "reset"}, follow=True)
    assert "No letter could be sent" in words(answer)


@pytest.mark.parametrize("do", ["leave", "off", "out", "factors", "reset"])
def test_who_does_not_administer_does_nothing_about_anybody(do: str, cast: Cast) -> None:
    """AZ-1."""
    priya = confirmed(cast.priya)
    page = words(priya.get(page_of(cast.dana)))
    assert "Decides for Finance" in page and "Take away" not in page and "When Dana leaves" not in page
    assert "Changed by those who administer the workspace: Omar Haddad." in page
    assert priya.post(f"{page_of(cast.dana)}/deed", {"do": do}).status_code == 403
    right = {"right": f"audit:{cast.northwind.public_id}"}
    assert {priya.post(f"{page_of(cast.priya)}/{verb}", right).status_code for verb in ("give", "take")} == {403}
    assert not Invitation.objects.exists() and Membership.objects.filter(person=cast.dana).exists()


def test_a_right_that_was_written_past_placet_gives_none(cast: Cast) -> None:
    """AZ-13."""
    from guardian.shortcuts import assign_perm

    with rows.within(cast.northwind):
        assign_perm("administer", cast.priya, cast.northwind)
        answer = rights.give(cast.riley, "audit", cast.northwind, by=cast.priya)
    assert getattr(answer, "code", "") == "not_allowed" and not people.may(cast.riley, "audit", cast.northwind)
