"""A real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

HERE_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, headless, which reaches nothing but this machine.

    One for each module of tests: while it lives, Playwright's loop runs in this thread and no asyncio.run can.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.fail("No Chromium is here: apt-get install chromium")
    # Playwright's loop runs in this thread, so Django would take a test's own queries for queries inside a coroutine.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[HERE_ONLY])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def page_as(chromium: Browser, site: str) -> Iterator[Callable[..., Page]]:
    """`page_as(person=None, **context)`: a page of a browser of its own, signed in as a person or as nobody.

    `context` goes to Playwright's new_context (viewport, color_scheme, java_script_enabled …); relative addresses work.
    """
    opened: list[BrowserContext] = []

    def open_page(person: Any = None, **context: Any) -> Page:
        opened.append(chromium.new_context(base_url=site, **context))
        if person is not None:
            opened[-1].add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session_of(person), "url": site}])
        return opened[-1].new_page()

    yield open_page
    for context in opened:
        context.close()


def session_of(person: Any) -> str:
    """A fresh session of a signed-in person: its cookie's value."""
    client = Client()
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client.cookies[settings.SESSION_COOKIE_NAME].value
