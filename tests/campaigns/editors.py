"""A visitor at the edit page: what they do with its form over HTTP, as a browser would send it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final

import httpx

from approvals.ledger import canonical
from tests.campaigns.visitors import Visitor
from tests.editing import Editor, NotOffered
from tests.forms import Form

FAULT: Final = re.compile(r'<p class="error[^"]*"([^>]*)>(.*?)</p>', re.DOTALL)
PLACE: Final = re.compile(r'data-at="([^"]*)"')
TAG: Final = re.compile(r"<[^>]+>")


class EditPage:
    """The edit page of an approval, opened anew."""

    def __init__(self, person: Visitor, approval: str) -> None:
        self.person, self.path = person, f"{person.path(approval)}/edit"
        self.answer: httpx.Response | None = None

    def save(self, before: Any, after: Any) -> None:
        """Make the edit with the controls of the form and save it. Raises AssertionError if it is not taken."""
        editor = Editor(self._form(), self._press)
        answer = self._send(editor.change(before, after), "save")
        assert answer.status_code == 302, f"The edit was answered {answer.status_code}: {faults(answer.text)}"

    def attempt(self, before: Any, after: Any) -> list[str]:
        """Try an edit that is none, in the form where it can be said there and else as JSON; where it was refused."""
        try:
            form = Editor(self._form(), self._press, loose=True).change(before, after)
        except NotOffered:
            form = self._form("?mode=json")
            form["text"] = canonical.encode(after).decode()
        answer = self._send(form, "save")
        return faults(answer.text) if answer.status_code == 422 else [f"status {answer.status_code}"]

    def _form(self, query: str = "") -> Form:
        page = self.person.client.get(self.path + query)
        page.raise_for_status()
        return Form(page.text, "/edit")

    def _press(self, form: Form, do: str) -> Form:
        answer = self._send(form, do)
        assert answer.status_code == 200, f"{do} was answered {answer.status_code}."
        return Form(answer.text, "/edit")

    def _send(self, form: Form, do: str) -> httpx.Response:
        return self.person.client.post(self.path, data=form.posted(do))


def faults(html: str) -> list[str]:
    """The pointers of the faults that the page shows."""
    found = []
    for attributes, inner in FAULT.findall(html):
        place = PLACE.search(attributes)
        told = re.match(r"(?:Line \d+: )?(/[^:]*): ", unescape(TAG.sub("", inner)).strip())
        found.append((unescape(place[1]) if place else "") + (told[1] if told else ""))
    return found
