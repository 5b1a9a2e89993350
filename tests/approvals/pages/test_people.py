"""The page on which somebody who administers a workspace invites others into it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from approvals import people, rows
from approvals.invitations import Invitation
from approvals.ledger import entries
from approvals.people import Person
from tests.approvals.test_invitations import NEW, join
from tests.approvals.test_signin import old, sign_in
from tests.cast import Cast
from tests.mailboxes import Mailbox, token_in

PAGE = "/w/northwind/people"


@pytest.fixture
def omar(cast: Cast) -> Client:
    return sign_in(cast.omar)[0]


def invite(client: Client, email: str = NEW, **more: Any) -> Any:
    return client.post(PAGE, {"email": email, "team": ["finance"]} | more)


def test_who_administers_invites_by_a_letter(omar: Client, mailbox: Mailbox, cast: Cast) -> None:
    answer = invite(omar)
    assert answer["Location"] == PAGE
    html = omar.get(PAGE).content.decode()
    assert f"{NEW} was written to." in html and "Finance" in html and "by Omar Haddad" in html
    client, _ = join(token_in(mailbox.wait()))
    assert client.get("/w/northwind/").status_code == 200
    assert Person.objects.get(email=NEW) in people.deciders(cast.finance)
    assert entries.read(cast.northwind.pk, "workspace", only=["invitation.made"])[0]["by"] == cast.omar.public_id


def test_without_mail_the_link_is_shown_once(omar: Client) -> None:
    html = invite(omar).content.decode()
    assert "No letter could be sent" in html
    token = parse_qs(urlsplit(html.split('literal">')[1].split("</p>")[0]).query)["token"][0]
    assert token not in omar.get(PAGE).content.decode() and join(token)[1]["Location"] == "/w/northwind/"


def test_inviting_takes_a_fresh_sign_in_and_what_was_typed_comes_back(omar: Client) -> None:
    """WB-6: judged when the form arrives, so that nobody invites from a browser that was left open."""
    old(omar)
    answer = invite(omar)
    way = parse_qs(urlsplit(answer["Location"]).query)["next"][0]
    assert answer["Location"].startswith("/accounts/confirm/") and not Invitation.objects.exists()
    html = omar.get(way).content.decode()
    assert f'value="{NEW}"' in html and 'value="finance" checked' in html


@pytest.mark.parametrize(
    ("email", "team", "said"),
    [
        ("no address", ["finance"], "This is no e-mail address."),
        ("dana@northwind.example", ["finance"], "a member already"),
        (NEW, ["finance", "treasury"], "The workspace has no team treasury."),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(omar: Client, email: str, team: list[str], said: str) -> None:
    answer = invite(omar, email, team=team)
    html = answer.content.decode()
    assert answer.status_code == 422 and said in html and f'value="{email}"' in html
    assert not Invitation.objects.exists()


def test_an_invitation_is_taken_back(omar: Client, mailbox: Mailbox) -> None:
    invite(omar)
    token = token_in(mailbox.wait())
    made = Invitation.objects.get()
    assert omar.post(f"{PAGE}/{made.public_id}/withdraw")["Location"] == PAGE
    assert join(token)[1].status_code == 404 and "Invited</h2>" not in omar.get(PAGE).content.decode()


def test_who_does_not_administer_reads_who_belongs_and_changes_nothing(omar: Client, cast: Cast) -> None:
    invite(omar)
    made = Invitation.objects.get()
    client, _ = sign_in(cast.dana)
    for answer in (invite(client, "x@y.example"), client.post(f"{PAGE}/{made.public_id}/withdraw")):
        assert answer.status_code == 403
    html = client.get(PAGE).content.decode()
    assert "Riley Chen" in html and NEW not in html and "Invite somebody" not in html
    assert "Changed by those who administer the workspace: Omar Haddad." in html
    made.refresh_from_db()
    assert made.status == "open" and Invitation.objects.count() == 1


def test_whoever_lost_the_right_meanwhile_invites_nobody(omar: Client, cast: Cast) -> None:
    with rows.within(cast.northwind):
        people.revoke(cast.omar, "administer", cast.northwind, by="system")
    assert invite(omar).status_code == 403 and not Invitation.objects.exists()
