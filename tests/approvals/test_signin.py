"""Signing in: what is counted, what is asked of whom, and what of it stands in the ledger."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import unquote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from approvals import assurance, signin
from approvals.ledger import entries
from approvals.people import Person
from tests.approvals.pages.conftest import at, form_of
from tests.cast import PASSWORD, Cast, ask, refund

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def sign_in(person: Person, password: str = PASSWORD, client: Client | None = None, **more: Any) -> tuple[Client, Any]:
    client = client or Client()
    return client, client.post("/accounts/login/", {"login": person.email, "password": password, **more})


def code(secret: str = SECRET, ahead: int = 0) -> str:
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + ahead))


@pytest.fixture
def with_app(cast: Cast) -> Person:
    """Dana, who has an authenticator app."""
    totp.TOTP.activate(cast.dana, SECRET)
    return cast.dana


def told(cast: Cast, *kinds: str) -> list[dict[str, Any]]:
    return [one for one in entries.read(cast.northwind.pk, "workspace") if one["kind"] in kinds]


def is_in(client: Client) -> bool:
    return client.get("/accounts/").status_code == 200


def test_a_sign_in_is_fresh_names_its_method_and_is_in_the_ledger(cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    assert client.session[assurance.RECORDS][0]["method"] == "password"
    [entry] = told(cast, "signin.done")
    assert entry["by"] == cast.dana.public_id and entry["methods"] == ["password"]


def test_who_is_tried_too_often_is_shut_out_for_a_while_and_it_is_written_down_once(cast: Cast) -> None:
    """The limit is counted in the database, so it holds whichever web process is asked, and without a broker."""
    for _ in range(8):
        sign_in(cast.dana, "wrong wrong wrong")
    client, answer = sign_in(cast.dana)
    assert not is_in(client) and "Too many tries" in answer.content.decode()
    assert [one["person"] for one in told(cast, "signin.limited")] == [cast.dana.public_id]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM placet_cache WHERE cache_key LIKE '%%login_failed%%'")
        assert cursor.fetchone()[0] > 0


def test_an_address_that_nobody_has_is_limited_as_well_and_is_nobody_s_news(cast: Cast) -> None:
    client = Client()
    for _ in range(6):
        answer = client.post("/accounts/login/", {"login": "nobody@northwind.example", "password": "wrong"})
    assert "Too many tries" in answer.content.decode() and not told(cast, "signin.limited")


def test_a_password_alone_lets_nobody_in_who_has_a_second_factor(with_app: Person) -> None:
    """WA-7: and a wrong code is not made good by anything weaker."""
    client, answer = sign_in(with_app)
    assert answer["Location"] == "/accounts/factors/ask/" and not is_in(client)
    for wrong in ("000000", PASSWORD, ""):
        assert "Second step" in client.post("/accounts/factors/ask/", {"code": wrong}).content.decode()
    assert not is_in(client)
    client.post("/accounts/factors/ask/", {"code": code()})
    assert is_in(client)
    assert [one["method"] for one in client.session[assurance.RECORDS]] == ["password", "mfa"]


def test_a_code_counts_once(with_app: Person) -> None:
    first, _ = sign_in(with_app)
    second, _ = sign_in(with_app)
    one = code()
    first.post("/accounts/factors/ask/", {"code": one})
    second.post("/accounts/factors/ask/", {"code": one})
    assert is_in(first) and not is_in(second)


def test_codes_are_limited_by_the_person_and_not_by_the_session(with_app: Person, cast: Cast) -> None:
    for _ in range(6):
        client, _answer = sign_in(with_app)
        client.post("/accounts/factors/ask/", {"code": "000000"})
    client, _ = sign_in(with_app)
    answer = client.post("/accounts/factors/ask/", {"code": code()})
    assert "Too many tries" in answer.content.decode() and not is_in(client)
    assert len(told(cast, "signin.limited")) == 1


def test_a_recovery_code_signs_in_once_and_says_so(with_app: Person, cast: Cast) -> None:
    codes = RecoveryCodes.activate(with_app).generate_codes()
    for times, expected in enumerate([True, False]):
        client, _ = sign_in(with_app)
        client.post("/accounts/factors/ask/", {"code": codes[0]})
        assert is_in(client) is expected, times
    assert told(cast, "signin.done")[-1]["methods"] == ["password", "recovery_code"]


def old(client: Client) -> None:
    """Let the sign-in of a session be of yesterday."""
    session = client.session
    session[assurance.RECORDS] = [one | {"at": one["at"] - 86_400} for one in session[assurance.RECORDS]]
    session.save()


@pytest.mark.parametrize("path", ["totp/add/", "passkeys/add/"])
def test_a_factor_is_added_after_a_fresh_sign_in_alone(cast: Cast, path: str) -> None:
    client, _ = sign_in(cast.dana)
    assert client.get(f"/accounts/{path}").status_code == 200
    old(client)
    for method in (client.get, client.post):
        answer = method(f"/accounts/{path}")
        assert unquote(answer["Location"]) == f"/accounts/confirm/?next=/accounts/{path}"


def test_adding_an_app_is_in_the_ledger_signs_out_elsewhere_and_shows_its_codes_once(cast: Cast) -> None:
    elsewhere, _ = sign_in(cast.dana)
    client, _ = sign_in(cast.dana)
    client.get("/accounts/totp/add/")
    answer = client.post("/accounts/totp/add/", {"code": code(client.session["mfa.totp.secret"])})
    assert answer["Location"] == "/accounts/codes/"
    assert [one["factor"] for one in told(cast, "factor.added")] == ["totp", "recovery_codes"]
    assert is_in(client) and not is_in(elsewhere)
    shown, again = (client.get("/accounts/codes/").content.decode() for _ in range(2))
    assert shown.count("<li>") == 10 and "<li>" not in again and "10 of 10 are left" in again


def test_who_has_a_factor_confirms_with_it_and_not_with_the_password_or_a_recovery_code(with_app: Person) -> None:
    """WA-7, CH-B119: at the second question too."""
    spare = RecoveryCodes.activate(with_app).generate_codes()[0]
    client, _ = sign_in(with_app)
    client.post("/accounts/factors/ask/", {"code": code()})
    old(client)
    answer = client.post("/accounts/confirm/", {"password": PASSWORD, "next": "/accounts/"})
    assert answer["Location"].startswith("/accounts/factors/confirm/")
    assert client.get("/accounts/totp/remove/").status_code == 302
    assert client.post("/accounts/factors/confirm/", {"code": spare}).status_code == 200
    assert client.get("/accounts/totp/remove/").status_code == 302
    client.post("/accounts/factors/confirm/", {"code": code(ahead=1), "next": "/accounts/"})
    assert client.get("/accounts/totp/remove/").status_code == 200


def test_a_removal_that_comes_too_late_is_not_done_by_confirming(with_app: Person) -> None:
    """WB-6: the form's page is shown again, and somebody presses again."""
    client, _ = sign_in(with_app)
    client.post("/accounts/factors/ask/", {"code": code()})
    old(client)
    answer = client.post("/accounts/totp/remove/")
    assert answer["Location"].startswith("/accounts/factors/confirm/")
    client.post("/accounts/factors/confirm/", {"code": code(ahead=1), "next": "/accounts/totp/remove/"})
    assert signin.factors(with_app)
    client.post("/accounts/totp/remove/")
    assert not signin.factors(with_app)


def test_removing_the_app_is_in_the_ledger_and_its_spare_codes_go_with_it(with_app: Person, cast: Cast) -> None:
    RecoveryCodes.activate(with_app)
    client, _ = sign_in(with_app)
    client.post("/accounts/factors/ask/", {"code": code()})
    assert client.post("/accounts/totp/remove/").status_code == 302
    assert {one["factor"] for one in told(cast, "factor.removed")} == {"totp", "recovery_codes"}
    assert not signin.factors(with_app)


def test_confirming_brings_one_back_and_no_further(cast: Cast) -> None:
    """WB-10: to a path of this site."""
    client, _ = sign_in(cast.dana)
    for way, back in (("/w/northwind/history", "/w/northwind/history"), ("//evil.example/", "/")):
        assert client.post("/accounts/confirm/", {"password": PASSWORD, "next": way})["Location"] == back


def test_a_wrong_password_confirms_nothing(cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    old(client)
    answer = client.post("/accounts/confirm/", {"password": "wrong wrong wrong"})
    assert answer.status_code == 200 and "not correct" in answer.content.decode()
    assert client.get("/accounts/totp/add/").status_code == 302


def test_secrets_are_closed_at_rest(with_app: Person) -> None:
    """Neither a factor's row nor a session's holds anything that reads as a secret."""
    RecoveryCodes.activate(with_app)
    client, _ = sign_in(with_app)
    client.post("/accounts/factors/ask/", {"code": code()})
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(data::text, '') FROM mfa_authenticator")
        kept = cursor.fetchone()[0] + "".join(Session.objects.values_list("session_data", flat=True))
    assert SECRET not in kept and "password" not in kept and with_app.email not in kept
    assert totp.TOTP(Authenticator.objects.get(type="totp")).validate_code(code(ahead=1))


def test_a_factor_that_was_written_past_placet_proves_nothing(with_app: Person, cast: Cast) -> None:
    """Priya's own app, copied under Dana's name by somebody who may write into the database."""
    other = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
    totp.TOTP.activate(cast.priya, other)
    Authenticator.objects.filter(user=with_app).update(data=Authenticator.objects.get(user=cast.priya).data)
    client, _ = sign_in(with_app)
    assert client.post("/accounts/factors/ask/", {"code": code(other)}).status_code == 403
    assert not is_in(client) and assurance.RECORDS not in client.session


def test_a_password_that_was_written_past_placet_opens_nothing(cast: Cast) -> None:
    Person.objects.filter(pk=cast.dana.pk).update(password=cast.priya.password)
    assert not is_in(sign_in(cast.dana)[0])
    assert is_in(sign_in(cast.priya)[0])


def test_a_session_copied_under_another_name_is_empty(cast: Cast) -> None:
    mine, _ = sign_in(cast.priya)
    hers, _ = sign_in(cast.dana)
    data = Session.objects.get(pk=hers.session.session_key).session_data
    Session.objects.filter(pk=mine.session.session_key).update(session_data=data)
    assert not is_in(mine) and is_in(hers)


def test_signing_out_elsewhere_leaves_this_session_and_no_other(cast: Cast) -> None:
    here, _ = sign_in(cast.dana)
    there, _ = sign_in(cast.dana)
    here.post("/accounts/others/")
    assert is_in(here) and not is_in(there)
    assert told(cast, "signin.others_ended")


def test_a_new_password_needs_the_old_one_ends_the_other_sessions_and_is_in_the_ledger(cast: Cast) -> None:
    here, _ = sign_in(cast.dana)
    there, _ = sign_in(cast.dana)
    new = {"password1": "a quite new battery", "password2": "a quite new battery"}
    assert "not correct" in here.post("/accounts/password/", {"oldpassword": "wrong", **new}).content.decode()
    assert here.post("/accounts/password/", {"oldpassword": PASSWORD, **new})["Location"] == "/accounts/"
    assert is_in(here) and not is_in(there)
    assert told(cast, "signin.password_changed")
    assert is_in(sign_in(cast.dana, "a quite new battery")[0])


def test_a_form_that_was_open_is_worthless_once_the_sessions_were_ended(cast: Cast) -> None:
    """WB-7, CH-B116: the form of the other browser goes to the sign-in."""
    approval = ask(cast, refund())
    client, _ = sign_in(cast.dana)
    form = form_of(approval, verdict="approve")
    signin.end_sessions(cast.dana)
    assert client.post(at(approval, "/decision"), form)["Location"].startswith("/accounts/login/")
    assert not approval.decisions.exists()


def test_an_operator_takes_the_factors_of_somebody_who_lost_them(with_app: Person, cast: Cast) -> None:
    RecoveryCodes.activate(with_app)
    assert signin.drop_factors(with_app, by="system") == 2
    assert {one["by"] for one in told(cast, "factor.removed")} == {"system"}
    assert is_in(sign_in(with_app)[0])


def test_nobody_else_s_passkey_can_be_named_or_removed(cast: Cast, with_app: Person) -> None:
    other = Authenticator.objects.get(user=with_app)
    client, _ = sign_in(cast.priya)
    for path in (f"passkeys/{other.pk}/", f"passkeys/{other.pk}/remove/", "totp/remove/"):
        assert client.get(f"/accounts/{path}").status_code == 404
        assert client.post(f"/accounts/{path}").status_code == 404


@pytest.mark.parametrize("path", ["", "totp/add/", "totp/remove/", "passkeys/add/", "codes/", "password/", "confirm/"])
def test_the_account_s_pages_are_for_who_is_signed_in(cast: Cast, path: str) -> None:
    answer = Client().get(f"/accounts/{path}")
    assert answer.status_code in {302, 403} and not answer.content.count(b"Your account")
