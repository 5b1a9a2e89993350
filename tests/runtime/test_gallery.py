"""What a person does on the pages of the gallery, without a script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.runtime import gallery
from tests.runtime.conftest import Desk

pytestmark = pytest.mark.committed


def test_the_button_repeats_the_choice(desk: Desk, page_as: Any) -> None:
    """Without a script: the sheet alone changes its words, and the form posts."""
    gallery.furnish(desk)
    run = gallery.doubtful(desk)
    page = page_as(desk.cast.omar, java_script_enabled=False)
    page.goto(gallery.path_of(gallery.last(desk.wait_out(run))))
    page.get_by_role("button", name="Record the choice").click()
    expect(page.get_by_text("Choose what became of it.")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^It happened")).check()
    page.get_by_label("What you saw").fill("re_8Kd02mQvTz")
    page.get_by_role("button", name="Record that it happened").click()
    expect(page.locator(".chip")).to_have_text("It happened")
    assert desk.work(run).status == "completed"
