"""People at their browsers, without the browser: sign in, read the review page, post the form that stands on it."""

from __future__ import annotations

import html
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import httpx

from runtime.demo import services

TOKEN: Final = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
REVISION: Final = re.compile(r'name="revision" value="(\d+)"')
OPENED: Final = re.compile(r'name="opened" value="([^"]+)"')
DIGEST: Final = re.compile(r'name="digest" value="([0-9a-f]{64})"')
MAY_APPROVE: Final = re.compile(r'name="verdict" value="approve"')
RETRY: Final = 0.2
KEPT: Final = httpx.Limits(keepalive_expiry=2)
"""An idle connection is given up, in seconds, well before the server does it: else the two can meet, and a form that
was posted into a closing connection is lost."""


@dataclass(frozen=True)
class Form:
    """What a review page would post."""

    token: str
    revision: str
    digest: str
    opened: str = ""


class Visitor:
    """One person with one session. What fails because a server is down raises httpx.HTTPError."""

    def __init__(self, url: str, slug: str, email: str, password: str) -> None:
        self.slug, self.email, self.password = slug, email, password
        self.client = httpx.Client(base_url=url, timeout=20, trust_env=False, limits=KEPT)

    def sign_in(self) -> None:
        """Sign in by the form, as everybody does."""
        page = self.client.get("/accounts/login/")
        given = {"login": self.email, "password": self.password, "csrfmiddlewaretoken": _found(TOKEN, page.text)}
        answer = self.client.post("/accounts/login/", data=given)
        assert answer.status_code == 302, f"{self.email} cannot sign in: {answer.status_code}"

    def again(self) -> Visitor:
        """The same person in the same session, for another thread."""
        other = Visitor(str(self.client.base_url), self.slug, self.email, self.password)
        other.client.cookies.update(self.client.cookies)
        return other

    def path(self, approval_id: str) -> str:
        return f"/w/{self.slug}/approvals/{approval_id}"

    def read(self, approval_id: str) -> Form | None:
        """The form of the review page; None if the page offers no approving."""
        page = self.client.get(self.path(approval_id))
        page.raise_for_status()
        if page.status_code != 200 or not MAY_APPROVE.search(page.text):
            return None
        return Form(*(_found(pattern, page.text) for pattern in (TOKEN, REVISION, DIGEST, OPENED)))

    def post(self, approval_id: str, form: Form, verdict: str = "approve", comment: str = "") -> httpx.Response:
        """Send the form."""
        given = {"csrfmiddlewaretoken": form.token, "revision": form.revision, "digest": form.digest}
        given |= {"opened": form.opened, "sure": "yes"}
        return self.client.post(
            f"{self.path(approval_id)}/decision", data=given | {"verdict": verdict, "comment": comment}
        )

    def approve(self, approval_id: str, *, seconds: float = 60) -> bool:
        """Approve as a stubborn person does: while a server is down, try again. True if an answer said it was taken,
        False if the page had nothing to approve any more."""
        deadline = time.monotonic() + seconds
        first: Form | None = None
        while True:
            try:
                form = self.read(approval_id)
                if form is None:
                    return False
                # At high risk a page is read for a while: what counts is when it was opened first.
                first = first if first and first.digest == form.digest else form
                form = replace(form, opened=first.opened)
                answer = self.post(approval_id, form)
                if answer.status_code == 302:
                    return True
                problem: Exception | str = f"status {answer.status_code}"
            except httpx.HTTPError as error:
                problem = error
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.email} cannot approve {approval_id}: {problem}")
            time.sleep(RETRY)


def visitors(url: str, home: Path, slug: str, *emails: str) -> list[Visitor]:
    """These people, signed in."""
    people = services.read(home)["people"]
    found = [Visitor(url, slug, email, people[email]) for email in emails]
    for visitor in found:
        visitor.sign_in()
    return found


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    if match is None:
        raise LookupError(f"The page has no {pattern.pattern!r}.")
    return html.unescape(match[1])
