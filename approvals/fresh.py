"""Fresh: where somebody confirms first that it is them, before a deed of weight."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from approvals import assurance


def confirm_at(request: Any, back_to: str) -> str | None:
    """The page on which the reader confirms that it is them, with the way back; None where their sign-in is fresh."""
    return None if assurance.of_session(request).satisfies("fresh") else confirm_address(request, back_to)


def confirm_address(request: Any, back_to: str) -> str:
    """That page, fresh or not; the sign-in where the reader has no other way to confirm."""
    from approvals import signin  # by then the apps are there, which it needs

    ways = signin.Adapter(request).get_reauthentication_methods(request.user)
    page = ways[0]["url"] if ways else reverse("account_login")
    return f"{page}?{urlencode({'next': back_to})}"
