"""Every page of somebody's account, and of coming in, in each of its states: a browser is led from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp

from approvals import identities, invitations, resets
from approvals.people import Person
from approvals.providers import Claims
from tests.approvals.test_signin import SECRET
from tests.cast import PASSWORD, Cast


def strangers_pages(page: Any, cast: Cast) -> Iterator[str]:
    """What somebody sees who is not signed in: the name of each page, which the browser shows by then."""
    page.goto("/accounts/login/")
    yield "sign in"
    _sign_in(page, cast.riley, "wrong wrong wrong")
    yield "sign in, refused"
    yield from _second_step(page, cast)
    yield from _links(page, cast)


def _second_step(page: Any, cast: Cast) -> Iterator[str]:
    totp.TOTP.activate(cast.omar, SECRET)
    page.goto("/accounts/login/")
    _sign_in(page, cast.omar, PASSWORD)
    yield "second step"
    page.get_by_label("Code of your authenticator app").fill("000000")
    page.get_by_role("button", name="Go on").click()
    yield "second step, refused"
    page.context.clear_cookies()


def _links(page: Any, cast: Cast) -> Iterator[str]:
    """What is behind the links that come by mail."""
    for name, email in (("join", "nora@northwind.example"), ("join, known", cast.oskar.email)):
        answer = invitations.invite(cast.northwind, email, teams=["finance"], by=None)
        assert isinstance(answer, tuple)
        page.goto(f"/accounts/join/?token={answer[1]}")
        yield name
        if name == "join":
            page.get_by_label("Your name").fill("Nora Berg")
            page.get_by_label("A password").fill("short")
            page.get_by_role("button", name="Join", exact=True).click()
            yield "join, refused"
    page.goto("/accounts/join/?token=nothing")
    yield "link that does not count"
    token = resets.make(cast.dana)
    page.goto(f"/accounts/reset/?token={token}")
    yield "reset"
    page.get_by_label("New password").fill("short")
    page.get_by_role("button", name="Set it").click()
    yield "reset, refused"


def own_pages(page: Any, person: Person) -> Iterator[str]:
    """What somebody sees who is signed in, and confirms who they are on the way."""
    page.goto("/accounts/")
    yield "account, empty"
    page.goto("/accounts/totp/add/")
    yield "confirm"
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("heading", name="Add an authenticator app").wait_for()
    yield "add an app"
    page.goto("/accounts/hours/")
    page.get_by_label("Time zone").fill("Mars/Olympus")
    page.get_by_label("Monday, from").fill("09:00")
    page.get_by_role("button", name="Save").click()
    yield "hours, refused"
    for name, path in _PATHS.items():
        page.goto(path)
        yield name
    key = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Dana’s laptop"}).pk
    for name, rest in (("name a passkey", ""), ("remove a passkey", "remove/")):
        page.goto(f"/accounts/passkeys/{key}/{rest}")
        yield name
    totp.TOTP.activate(person, SECRET)
    page.goto("/accounts/totp/remove/")
    yield "remove an app"
    page.goto("/accounts/codes/new/")
    yield "new codes"
    page.get_by_role("button", name="Make new codes").click()
    yield "codes, shown once"
    page.goto("/accounts/codes/")
    yield "codes"
    identities.link(person, Claims("https://id.example", "dana", "dana@id.example"))
    page.goto("/accounts/")
    yield "account"


_PATHS = {
    "add a passkey": "/accounts/passkeys/add/",
    "password": "/accounts/password/",
    "hours": "/accounts/hours/",
    "sign out": "/accounts/logout/",
}


def administrators_pages(page: Any) -> Iterator[str]:
    """The people of a workspace, with an invitation that was made and one that was refused."""
    page.goto("/w/northwind/people")
    page.get_by_label("E-mail").fill("nora@northwind.example")
    page.get_by_label("Finance").check()
    page.get_by_role("button", name="Send the invitation").click()
    yield "people, a link to hand over"
    page.get_by_label("E-mail").fill("dana@northwind.example")
    page.get_by_role("button", name="Send the invitation").click()
    yield "people, refused"


def _sign_in(page: Any, person: Person, password: str) -> None:
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
