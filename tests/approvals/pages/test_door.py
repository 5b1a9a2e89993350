"""Who comes in, and what an outsider learns: nothing."""

from __future__ import annotations

import pytest
from django.conf import settings

from approvals import people, rows
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import PASSWORD, Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")


def test_nobody_is_sent_to_sign_in_and_comes_back(cast: Cast, reads: Reads) -> None:
    answer = reads(None).get("/w/northwind/?tab=others")
    assert answer.status_code == 302
    assert answer["Location"] == "/accounts/login/?next=/w/northwind/%3Ftab%3Dothers"


def test_a_part_of_a_page_is_told_that_the_session_ended(cast: Cast, reads: Reads) -> None:
    """A redirect would put the sign-in page into the list."""
    assert reads(None).get("/w/northwind/", headers={"HX-Request": "true"}).status_code == 401


def test_a_foreign_and_an_unknown_approval_give_the_same_404(cast: Cast, reads: Reads) -> None:
    """WB-4: same status, same body, for every address."""
    approval = ask(cast, refund())
    unknown = rows.public_id("apr", rows.uuid7())
    oskar, dana = reads(cast.oskar), reads(cast.dana)
    bodies = set()
    for client, slug in ((oskar, "northwind"), (oskar, "halden"), (oskar, "nowhere"), (dana, "halden")):
        for public_id in (approval.public_id, unknown, "apr_x", approval.public_id.upper()):
            for rest in ("", "/edit"):
                answer = client.get(f"/w/{slug}/approvals/{public_id}{rest}")
                assert answer.status_code == 404
                bodies.add(answer.content)
    assert len(bodies) == 1


@pytest.mark.parametrize("path", ["", "ledger", "ledger/entries", "runs"])
def test_an_outsider_finds_no_workspace(cast: Cast, reads: Reads, path: str) -> None:
    """WB-4: pages of a workspace are 404 for who does not belong to it."""
    assert reads(cast.oskar).get(f"/w/northwind/{path}").status_code == 404


def test_a_foreign_form_decides_nothing(cast: Cast, reads: Reads) -> None:
    """WB-4 and IN-M4: an outsider's POST is the same 404."""
    approval = ask(cast, refund())
    answer = reads(cast.oskar).post(at(approval, "/decision"), form_of(approval, verdict="approve"))
    approval.refresh_from_db()
    assert answer.status_code == 404 and approval.status == "pending" and not approval.decisions.exists()


def test_a_decision_by_get_is_405(cast: Cast, reads: Reads) -> None:
    """WB-1: a link can decide nothing, whatever it carries."""
    approval = ask(cast, refund())
    answer = reads(cast.dana).get(at(approval, "/decision"), form_of(approval, verdict="approve"))
    approval.refresh_from_db()
    assert answer.status_code == 405 and approval.status == "pending"


def test_a_form_without_its_token_is_refused(cast: Cast, reads: Reads) -> None:
    """WB-1 and IN-M2: a client that only submits forms changes nothing."""
    approval = ask(cast, refund())
    for client in (reads(cast.dana, enforce_csrf_checks=True), reads(None, enforce_csrf_checks=True)):
        assert client.post(at(approval, "/decision"), form_of(approval, verdict="approve")).status_code == 403
    assert not approval.decisions.exists()


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}])
def test_a_form_of_another_site_is_refused(cast: Cast, reads: Reads, headers: dict[str, str]) -> None:
    """WB-1: what the browser says of where a form comes from counts."""
    approval = ask(cast, refund())
    answer = reads(cast.dana).post(at(approval, "/decision"), form_of(approval, verdict="approve"), headers=headers)
    assert answer.status_code == 403 and not approval.decisions.exists()


def test_a_form_of_another_origin_is_refused_even_with_its_token(cast: Cast, reads: Reads) -> None:
    """WB-1: the Origin header is compared with this site."""
    approval = ask(cast, refund())
    client = reads(cast.dana, enforce_csrf_checks=True)
    client.get(at(approval))
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    fields = form_of(approval, verdict="approve", csrfmiddlewaretoken=token)
    for origin, status in (("https://evil.example", 403), ("null", 403), ("http://testserver", 302)):
        answer = client.post(at(approval, "/decision"), fields, headers={"Origin": origin})
        assert answer.status_code == status


def test_every_page_is_locked_down(cast: Cast, reads: Reads) -> None:
    """WB-2: no framing, no inline code or style, no sniffing, nothing kept; and the pages hold to it."""
    approval = ask(cast, refund())
    client = reads(cast.dana)
    for path in ("/w/northwind/", at(approval), at(approval, "/edit"), "/w/northwind/ledger", "/w/northwind/runs"):
        answer = client.get(path)
        policy, html = answer["Content-Security-Policy"], answer.content.decode()
        assert answer.status_code == 200 and answer["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert "no-store" in answer["Cache-Control"]
        assert " style=" not in html and "<style" not in html and " onclick" not in html and "<script>" not in html


def test_a_right_taken_away_between_page_and_click_counts(cast: Cast, reads: Reads) -> None:
    """WB-7 and IN-M16: rights are read at the click."""
    approval = ask(cast, refund())
    client = reads(cast.dana)
    form = form_of(approval, verdict="approve")
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    answer = client.post(at(approval, "/decision"), form)
    approval.refresh_from_db()
    assert answer.status_code == 403 and "not one of them" in answer.content.decode()
    assert approval.status == "pending" and not approval.decisions.exists()


def test_signing_out_elsewhere_makes_the_open_form_fail(cast: Cast, reads: Reads) -> None:
    """WB-7: the form of the other tab goes to the sign-in, and nothing is decided."""
    approval = ask(cast, refund())
    client = reads(cast.dana)
    form = form_of(approval, verdict="approve")
    client.post("/accounts/logout/")
    answer = client.post(at(approval, "/decision"), form)
    assert answer.status_code == 302 and answer["Location"] == f"/accounts/login/?next={at(approval)}"
    assert not approval.decisions.exists()


def test_a_deactivated_person_is_out_at_once(cast: Cast, reads: Reads) -> None:
    """WB-7: with the session still there."""
    approval = ask(cast, refund())
    client = reads(cast.dana)
    assert client.get(at(approval)).status_code == 200
    cast.dana.is_active = False
    cast.dana.save()
    assert client.get(at(approval)).status_code == 302
    assert client.post(at(approval, "/decision"), form_of(approval, verdict="approve")).status_code == 302


def test_who_left_the_workspace_finds_nothing(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    client = reads(cast.dana)
    people.leave(cast.dana, cast.northwind, by="system")
    assert client.get(at(approval)).status_code == 404


@pytest.mark.parametrize(
    "way",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "http://testserver/",
        " //evil",
    ],
)
def test_the_way_back_after_signing_in_is_a_local_path_or_none(cast: Cast, reads: Reads, way: str) -> None:
    """WB-10: anything else leads home."""
    fields = {"login": cast.dana.email, "password": PASSWORD, "next": way}
    answer = reads(None).post("/accounts/login/", fields)
    assert answer.status_code == 302 and answer["Location"] == "/"


def test_signing_in_by_e_mail_leads_to_where_one_wanted_to_go(cast: Cast, reads: Reads) -> None:
    client = reads(None)
    fields = {"login": cast.dana.email.upper(), "password": PASSWORD, "next": "/w/northwind/ledger"}
    assert client.post("/accounts/login/", fields)["Location"] == "/w/northwind/ledger"
    assert client.get("/")["Location"] == "/w/northwind/"


def test_a_wrong_password_says_no_more_than_that(cast: Cast, reads: Reads) -> None:
    told = [
        reads(None).post("/accounts/login/", {"login": login, "password": "wrong"}).content.decode()
        for login in (cast.dana.email, "nobody@northwind.example")
    ]
    assert all("not correct" in html for html in told)
    assert len({html.count("not correct") for html in told}) == 1


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/password/reset/", "/accounts/email/", "/admin/"])
def test_nobody_signs_up_and_there_is_no_second_door(cast: Cast, reads: Reads, path: str) -> None:
    assert reads(None).get(path).status_code == 404
