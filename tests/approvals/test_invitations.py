"""Invitations: a link that lets one person in, once, to what was promised, if nobody took it back."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from approvals import departures, invitations, people, rows, tokens, vouched
from approvals.invitations import Invitation
from approvals.ledger import entries, keys, verify
from approvals.people import Membership, Person
from approvals.votes import Refused
from tests.approvals.test_signin import is_in, sign_in
from tests.cast import Cast
from tests.clock import set_forward
from tests.mailboxes import Mailbox, token_in

NEW = "nora@northwind.example"
PASSWORD = "nobody guesses this one"


def invite(cast: Cast, email: str = NEW) -> str:
    """An invitation of Omar's, who administers; its secret."""
    made = invitations.invite(cast.northwind, email, teams=["finance"], by=cast.omar)
    assert not isinstance(made, Refused), made
    return made[1]


def join(token: str, client: Client | None = None, **fields: Any) -> tuple[Client, Any]:
    client = client or Client()
    told = {"token": token, "name": "Nora Berg", "password": PASSWORD} | fields
    return client, client.post("/accounts/join/", told)


def told(cast: Cast, *kinds: str) -> list[str]:
    return [one["kind"] for one in entries.read(cast.northwind.pk, "workspace") if one["kind"] in kinds]


def test_an_invitation_lets_somebody_in_with_what_was_promised(cast: Cast) -> None:
    client, answer = join(invite(cast))
    assert answer["Location"] == "/w/northwind/" and is_in(client)
    nora = Person.objects.get(email=NEW)
    assert nora.name == "Nora Berg" and nora in people.deciders(cast.finance)
    assert told(cast, "invitation.made", "invitation.accepted") == ["invitation.made", "invitation.accepted"]
    assert not vouched.unexplained(cast.northwind.pk)


def test_looking_at_the_link_changes_nothing(cast: Cast) -> None:
    """A scanner of mails opens every link, as often as it likes."""
    token = invite(cast)
    for method in ("get", "head", "get"):
        assert getattr(Client(), method)(f"/accounts/join/?token={token}").status_code == 200
    assert Invitation.objects.get().status == "open" and not Person.objects.filter(email=NEW).exists()


def test_the_link_works_once(cast: Cast) -> None:
    token = invite(cast)
    join(token)
    assert join(token)[1].status_code == 404 and Person.objects.filter(email=NEW).count() == 1


def test_the_secret_is_kept_nowhere(cast: Cast) -> None:
    token = invite(cast)
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM approvals_invitation t")
        assert token not in cursor.fetchone()[0]
    assert token not in str(entries.read(cast.northwind.pk, "workspace"))


def withdrawn(cast: Cast) -> None:
    invitations.withdraw_all(NEW, cast.northwind, "system")


def expired(cast: Cast) -> None:
    set_forward(8 * 86_400)


def inviter_lost_the_right(cast: Cast) -> None:
    people.revoke(cast.omar, "administer", cast.northwind, by="system")


def inviter_was_switched_off(cast: Cast) -> None:
    departures.deactivate(cast.omar, by="system")


def invited_again(cast: Cast) -> None:
    invite(cast)


def another_address(cast: Cast) -> None:
    Invitation.objects.update(email="mallory@evil.example")


def more_teams(cast: Cast) -> None:
    Invitation.objects.update(teams=["finance", "board"])


@pytest.mark.parametrize(
    "event",
    [withdrawn, expired, inviter_lost_the_right, inviter_was_switched_off, invited_again, another_address, more_teams],
)
def test_it_counts_no_more_after(event: Any, cast: Cast) -> None:
    """What was withdrawn, is too old, or was changed in the database lets nobody in."""
    token = invite(cast)
    with rows.within(cast.northwind):
        if event not in {inviter_was_switched_off}:
            event(cast)
    if event is inviter_was_switched_off:
        event(cast)
    assert join(token)[1].status_code == 404
    assert not Person.objects.filter(email__in=[NEW, "mallory@evil.example"]).exists()


def test_an_invitation_that_was_written_past_placet_lets_nobody_in(cast: Cast) -> None:
    token = tokens.fresh()
    with rows.within(cast.northwind):
        forged = Invitation(workspace=cast.northwind, email=NEW, teams=["finance"], secret_hash=tokens.hashed(token))
        forged.expires_at = rows.now() + invitations.LASTS
        forged.mac = keys.sign("tool", b"of another purpose")
        forged.save(force_insert=True)
    assert join(token)[1].status_code == 404 and not Person.objects.filter(email=NEW).exists()


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "é" * 43, "\x00" * 43])
def test_a_token_that_is_none_is_a_404(cast: Cast, token: str) -> None:
    assert Client().get("/accounts/join/", {"token": token}).status_code == 404


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"password": "short"}, "too short"),
        ({"password": "12345678901"}, "entirely numeric"),
        ({"name": " "}, "Your name"),
        ({"name": "n" * 121}, "Your name"),
    ],
)
def test_a_weak_password_or_no_name_is_refused_and_the_link_still_works(
    cast: Cast, fields: dict[str, str], said: str
) -> None:
    token = invite(cast)
    _, answer = join(token, None, **fields)
    assert answer.status_code == 422 and said in answer.content.decode()
    assert join(token)[1].status_code == 302


def test_who_has_an_account_signs_in_with_it_and_nobody_else_may(cast: Cast) -> None:
    """CH-B43: Oskar, of another workspace, is invited to this one; Dana finds the letter."""
    token = invite(cast, cast.oskar.email)
    stranger, _ = sign_in(cast.dana)
    assert join(token, stranger)[1]["Location"].startswith("/accounts/login/")
    assert join(token)[1]["Location"].startswith("/accounts/login/")
    assert not Membership.objects.filter(person=cast.oskar, workspace=cast.northwind).exists()
    client, _ = sign_in(cast.oskar)
    assert join(token, client)[1]["Location"] == "/w/northwind/"
    assert Person.objects.get(pk=cast.oskar.pk).name == "Oskar Lind"
    assert cast.oskar in people.deciders(cast.finance)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"email": "no address"}, "invalid_email"),
        ({"teams": ["nobody-knows"]}, "unknown_team"),
        ({"email": "dana@northwind.example"}, "member_already"),
        ({"by": "dana"}, "not_allowed"),
        ({"by": "oskar"}, "not_allowed"),
    ],
)
def test_what_cannot_be_invited(cast: Cast, more: dict[str, Any], code: str) -> None:
    by = getattr(cast, more.pop("by", "omar"))
    answer = invitations.invite(cast.northwind, more.pop("email", NEW), teams=more.pop("teams", []), by=by)
    assert isinstance(answer, Refused) and answer.code == code


def test_an_operator_invites_and_the_letter_is_real(cast: Cast, mailbox: Mailbox) -> None:
    out = StringIO()
    arguments = ["--workspace", "northwind", "--team", "finance", "--as", cast.omar.email]
    call_command("people", "invite", NEW, *arguments, stdout=out)
    letter = mailbox.wait()
    assert letter["To"] == NEW and "Omar Haddad invites you to Northwind refunds" in letter.get_content()
    assert "token" not in out.getvalue()
    assert join(token_in(letter))[1].status_code == 302


def test_without_a_mail_server_the_link_is_shown_to_who_invites(cast: Cast) -> None:
    out = StringIO()
    call_command("people", "invite", NEW, "--workspace", "northwind", stdout=out)
    assert "/accounts/join/?token=" in out.getvalue()


def test_a_command_refuses_in_words(cast: Cast) -> None:
    with pytest.raises(CommandError, match="administer"):
        call_command("people", "invite", NEW, "--workspace", "northwind", "--as", cast.dana.email)


def test_the_ledger_holds_after_all_that(cast: Cast) -> None:
    join(invite(cast))
    assert not [one for one in verify.verify_workspace(cast.northwind.pk) if one.findings]
