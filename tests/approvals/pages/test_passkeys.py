"""Passkeys in a real browser, with an authenticator that Chromium imitates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page

from tests.cast import PASSWORD, Cast, assemble

pytestmark = [pytest.mark.committed, pytest.mark.lasts(20)]


@pytest.fixture
def folk(committed_db: str) -> Cast:
    return assemble()


class Device:
    """Dana's browser, and the authenticator in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.wire = page.context.new_cdp_session(page)
        self.wire.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
        self.key = self.wire.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def verifies(self, is_owner: bool) -> None:
        """Whether the device's own check (a finger, a PIN) succeeds."""
        self.wire.send("WebAuthn.setUserVerified", {"authenticatorId": self.key, "isUserVerified": is_owner})

    def sign_in(self, person: Any) -> None:
        self.page.goto("/accounts/login/")
        self.page.get_by_label("E-mail").fill(person.email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in", exact=True).click()

    def enrol(self, name: str) -> None:
        self.page.goto("/accounts/passkeys/add/")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_role("button", name="Add a passkey").click()
        self.page.wait_for_url("**/accounts/codes/")

    def sign_out(self) -> None:
        self.page.context.clear_cookies()


@pytest.fixture
def device(page_as: Callable[..., Page], folk: Cast) -> Device:
    return Device(page_as())


def test_a_passkey_is_added_signs_in_and_confirms(device: Device, folk: Cast) -> None:
    """Under the strict policy of scripts, on localhost."""
    page, refused = device.page, []
    page.on("console", lambda line: refused.append(line.text) if "Content Security Policy" in line.text else None)
    device.sign_in(folk.dana)
    device.enrol("Dana's laptop")
    page.goto("/accounts/")
    assert page.get_by_text("Dana's laptop").first.is_visible()
    device.sign_out()
    page.goto("/accounts/login/?next=/accounts/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Your account").wait_for()
    assert "proved" in page.content() and "passkey" in page.content()
    page.goto("/accounts/passkeys/confirm/?next=/accounts/")
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("heading", name="Your account").wait_for()
    assert not refused


def test_a_password_leads_to_the_passkey_and_a_failing_one_to_nothing(device: Device, folk: Cast) -> None:
    """WA-7: neither the password nor an unverified touch is taken in its place."""
    page = device.page
    device.sign_in(folk.dana)
    device.enrol("Key")
    device.sign_out()
    device.sign_in(folk.dana)
    page.wait_for_url("**/accounts/factors/ask/")
    device.verifies(False)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_text("nothing weaker is taken instead").wait_for()
    page.goto("/accounts/")
    page.wait_for_url("**/accounts/factors/ask/")
    device.verifies(True)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/w/northwind/")


def test_a_passkey_is_renamed_and_removed(device: Device, folk: Cast) -> None:
    page = device.page
    device.sign_in(folk.dana)
    device.enrol("Old name")
    page.goto("/accounts/")
    page.get_by_role("link", name="Rename Old name").click()
    page.get_by_label("Name").fill("New name")
    page.get_by_role("button", name="Save").click()
    page.goto("/accounts/")
    page.get_by_role("link", name="Remove New name").click()
    page.get_by_role("button", name="Remove it").click()
    page.wait_for_url("**/accounts/passkeys/")
    assert not Authenticator.objects.exists()


def test_a_passkey_that_was_written_past_placet_signs_nobody_in(device: Device, folk: Cast) -> None:
    """Somebody who may write into the database puts their own passkey under Dana's name."""
    page = device.page
    device.sign_in(folk.priya)
    device.enrol("Priya's own")
    device.sign_out()
    Authenticator.objects.filter(type="webauthn").update(user=folk.dana)
    device.sign_in(folk.dana)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_function("!document.querySelector('[data-passkey]')")
    page.goto("/accounts/")
    assert "/accounts/login/" in page.url
