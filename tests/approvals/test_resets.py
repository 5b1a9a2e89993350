"""Forgotten passwords: a link that works once, for who may sign in, and tells nobody who has an account."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.test import Client
from django.urls import clear_url_caches, include, path

from approvals import departures, resets, rows, tokens
from approvals.ledger import entries, keys
from approvals.pages import account
from approvals.resets import Reset
from tests.approvals.test_signin import SECRET, is_in, sign_in
from tests.cast import Cast, assemble
from tests.mailboxes import Mailbox, token_in

NEW = "quite another battery"


def use(token: str, password: str = NEW) -> int:
    return Client().post("/accounts/reset/", {"token": token, "password": password}).status_code


def test_a_link_gives_a_new_password_once_and_ends_every_session(cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    token = resets.make(cast.dana)
    assert use(token) == 200 and use(token, "and another one of mine") == 404
    assert not is_in(client) and is_in(sign_in(cast.dana, NEW)[0])
    kinds = [one["kind"] for one in entries.read(cast.northwind.pk, "workspace")]
    assert "signin.password_reset" in kinds and "reset.asked" in kinds


def test_looking_at_the_link_changes_nothing(cast: Cast) -> None:
    token = resets.make(cast.dana)
    for _ in range(3):
        assert Client().get("/accounts/reset/", {"token": token}).status_code == 200
    assert use(token) == 200


def test_a_weak_password_is_refused_and_the_link_still_works(cast: Cast) -> None:
    token = resets.make(cast.dana)
    assert use(token, "short") == 422 and use(token) == 200


def test_a_reset_is_no_second_factor(cast: Cast) -> None:
    """WA-7: who holds the letter alone stops at the second step."""
    totp.TOTP.activate(cast.dana, SECRET)
    use(resets.make(cast.dana))
    client, answer = sign_in(cast.dana, NEW)
    assert answer["Location"] == "/accounts/factors/ask/" and not is_in(client)


def test_a_link_ends_with_the_password_it_was_made_for_with_a_newer_one_and_with_the_person(cast: Cast) -> None:
    first = resets.make(cast.dana)
    second = resets.make(cast.dana)
    assert use(first) == 404
    cast.dana.set_password("chosen in the meantime")
    cast.dana.save()
    assert use(second) == 404
    third = resets.make(cast.dana)
    departures.deactivate(cast.dana, by="system")
    assert use(third) == 404


def test_a_link_expires(cast: Cast) -> None:
    token = resets.make(cast.dana)
    Reset.objects.update(expires_at=rows.now())
    assert use(token) == 404


def test_a_link_that_was_written_past_placet_gives_nothing(cast: Cast) -> None:
    token = tokens.fresh()
    forged = Reset(person=cast.dana, secret_hash=tokens.hashed(token), expires_at=rows.now() + resets.LASTS)
    forged.mac = keys.sign("invitation", b"of another purpose")
    forged.save(force_insert=True)
    assert use(token) == 404


@pytest.fixture
def asks(mailbox: Mailbox, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client of a Placet that was started with a mail server: only then there is the page."""
    urls: Any = ModuleType("urls_with_mail")
    urls.urlpatterns = [
        path("accounts/forgotten/", account.forgotten, name="forgotten"),
        path("", include("runtime.urls")),
    ]
    monkeypatch.setitem(sys.modules, "urls_with_mail", urls)
    settings.ROOT_URLCONF = "urls_with_mail"
    clear_url_caches()
    yield Client()
    clear_url_caches()


@pytest.mark.committed
def test_a_letter_goes_to_who_has_an_account_and_the_answer_is_the_same_for_nobody(
    asks: Client, mailbox: Mailbox
) -> None:
    """Whether an address has an account, the page does not tell; nor does how long it takes, since all that differs is
    done apart."""
    cast = assemble()
    told = {asks.post("/accounts/forgotten/", {"email": email}).content for email in (cast.dana.email, "no@no.example")}
    assert len(told) == 1
    letter = mailbox.wait()
    assert letter["To"] == cast.dana.email
    assert use(token_in(letter)) == 200
    mailbox.wait(2)
    assert [one["To"] for one in mailbox.letters] == [cast.dana.email] * 2
