"""The pages of accounts, as far as a program has an eye: WCAG 2.2 AA in light and dark, nothing wider than a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.template.loader import get_template

from tests.approvals.pages.account_pages import administrators_pages, own_pages, strangers_pages
from tests.approvals.pages.test_access import problems_in_both
from tests.cast import Cast

pytestmark = [pytest.mark.committed, pytest.mark.lasts(40)]
PROVIDER = {"short": "corp", "title": "Corp"}
OF_PROVIDERS: dict[str, dict[str, Any]] = {
    "confirm_there": {"provider": PROVIDER},
    "first": {"provider": PROVIDER, "claims": {"email": "dana@corp.example"}, "process": "enter", "person": {}},
    "said": {"title": "Look into your mail", "text": "If somebody here has this address, a letter is on its way."},
}
"""The pages that stand between two visits to a provider, or after a form."""
PHONE = {"width": 390, "height": 844}


def every(page_as: Callable[..., Any], cast: Cast, **how: Any) -> Iterator[tuple[str, Any]]:
    """A browser at each of the pages, and what the page is."""
    stranger, omar, dana = page_as(**how), page_as(**how), page_as(cast.dana, **how)
    omar.goto("/accounts/login/?next=/w/northwind/people")
    omar.get_by_label("E-mail").fill(cast.omar.email)
    omar.get_by_label("Password").fill("correct horse battery staple")
    omar.get_by_role("button", name="Sign in", exact=True).click()
    omar.wait_for_url("**/w/northwind/people")
    for page, names in (
        (omar, administrators_pages(omar)),
        (stranger, strangers_pages(stranger, cast)),
        (dana, own_pages(dana, cast.dana)),
    ):
        for name in names:
            yield name, page


def test_axe_finds_nothing_on_the_pages_of_accounts(cast: Cast, page_as: Callable[..., Any]) -> None:
    found: dict[str, list[str]] = {}
    for name, page in every(page_as, cast, reduced_motion="reduce"):
        found |= {name: lines} if (lines := problems_in_both(page)) else {}
    for name, told in OF_PROVIDERS.items():
        page.set_content(get_template(f"account/{name}.html").render(told))
        found |= {name: lines} if (lines := problems_in_both(page)) else {}
    assert found == {}


def test_no_page_of_accounts_is_wider_than_a_phone(cast: Cast, page_as: Callable[..., Any]) -> None:
    """Nor is any of its buttons too small for a thumb."""
    wide = []
    for name, page in every(page_as, cast, viewport=PHONE):
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(name)
    assert wide == []
