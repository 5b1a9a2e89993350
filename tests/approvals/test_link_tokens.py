"""Links in letters, as mail clients and guessers send them back: they work as they are, or lead nowhere at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from approvals import invitations, resets
from approvals.votes import Refused
from tests.cast import Cast


def invited(cast: Cast) -> str:
    made = invitations.invite(cast.northwind, "nora@northwind.example", teams=["finance"], by=cast.omar)
    assert not isinstance(made, Refused), made
    return made[1]


def forgotten(cast: Cast) -> str:
    return resets.make(cast.dana)


LINKS: dict[str, tuple[Callable[[Cast], str], str]] = {
    "invitation": (invited, "/accounts/join/"),
    "reset": (forgotten, "/accounts/reset/"),
}
MANGLED: dict[str, Callable[[str], str]] = {
    "one character": lambda token: ("A" if token[0] != "A" else "B") + token[1:],
    "other case": str.swapcase,
    "full stop": lambda token: f"{token}.",
    "bracket": lambda token: f"{token}>",
    "encoded again": lambda token: quote(quote(f"={token}")),
    "cut": lambda token: token[:-1],
}


def answer(path: str, token: str) -> Any:
    return Client().get(path, {"token": token})


@pytest.mark.parametrize("how", MANGLED)
@pytest.mark.parametrize("link", LINKS)
def test_a_link_that_was_mangled_leads_nowhere_and_is_not_used_up(cast: Cast, link: str, how: str) -> None:
    """IN-M6, IN-M7: the answer is that to any token that never was; one is found by its hash, so nothing can be timed
    character by character."""
    make, path = LINKS[link]
    token = make(cast)
    mangled, unknown = answer(path, MANGLED[how](token)), answer(path, "x" * 43)
    assert (mangled.status_code, mangled.content) == (404, unknown.content)
    assert answer(path, token).status_code == 200


@pytest.mark.parametrize(("one", "other"), [("invitation", "reset"), ("reset", "invitation")])
def test_a_link_of_one_kind_is_none_of_another(cast: Cast, one: str, other: str) -> None:
    """IN-M6: each has one purpose."""
    assert answer(LINKS[other][1], LINKS[one][0](cast)).status_code == 404
