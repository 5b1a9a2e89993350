"""Signing in: local accounts by e-mail and password. Nobody signs up, nobody is signed in by a link."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


class Adapter(DefaultAccountAdapter):
    """Accounts are made by those who run Placet; the way back after the sign-in is a path of this site or none."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "E-mail or password is not correct.",
        "too_many_login_attempts": "Too many tries. Wait a few minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str | None) -> bool:
        """Only a local path: a whole address is refused even if it names this host."""
        return bool(url) and str(url).startswith("/") and url_has_allowed_host_and_scheme(str(url), allowed_hosts=None)

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """The page that follows says enough."""
