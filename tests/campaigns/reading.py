"""What a person reads on the review page: the rows of what will run, name by name."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from typing import Any

from approvals.edits import marks
from approvals.edits.display import DOTS
from approvals.edits.places import at, below, within
from approvals.ledger import canonical


class Rows(HTMLParser):
    """The rows of the argument tables of a page, in order: name and value as they are read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[tuple[str, str]] = []
        self._part = self._rest = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if tag == "dt":
            self.rows.append(("", ""))
            self._part = "name"
        elif tag == "dd":
            self._part = "value" if "value" in classes else ""
        elif tag == "summary":  # what folds a long text is no part of it
            self._part, self._rest = "", self._part

    def handle_endtag(self, tag: str) -> None:
        if tag in ("dt", "dd"):
            self._part = ""
        elif tag == "summary":
            self._part = self._rest

    def handle_data(self, data: str) -> None:
        if self._part and self.rows:
            name, value = self.rows[-1]
            self.rows[-1] = (name + data, value) if self._part == "name" else (name, value + data)


def missing(html: str, args: Any, secret: Collection[str]) -> list[str]:
    """The pointers of the arguments that the page does not show in full; for secrets, those it does show."""
    rows = Rows(html).rows
    amiss = []
    for pointer, value in leaves(args):
        if within(pointer, secret):
            text = value if isinstance(value, str) else canonical.encode(value).decode()
            amiss += [pointer] if text in html or not _has(rows, pointer, DOTS) else []
        elif not _has(rows, pointer, _as_read(value)) and not _inline(rows, pointer, args):
            amiss.append(pointer)
    return amiss


def leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """Every value that holds no other, with its pointer."""
    if isinstance(value, dict) and value:
        return [leaf for name in value for leaf in leaves(value[name], below(pointer, name))]
    if isinstance(value, list) and value:
        return [leaf for index, entry in enumerate(value) for leaf in leaves(entry, below(pointer, index))]
    return [(pointer, value)] if pointer else []


def _as_read(value: Any) -> str:
    if not isinstance(value, str):
        return canonical.encode(value).decode()
    return "".join(segment.text for segment in marks.segments(value))


def _name(pointer: str) -> str:
    part = canonical.split(pointer)[-1]
    return f"entry {int(part) + 1}" if part.isdigit() else part


def _has(rows: list[tuple[str, str]], pointer: str, text: str) -> bool:
    names = {_name(pointer), canonical.split(pointer)[-1]}
    return any(name.strip() in names and value.strip() in (text.strip(), f'"{text}"') for name, value in rows)


def _inline(rows: list[tuple[str, str]], pointer: str, args: Any) -> bool:
    """Whether the entry stands in the one row of its list, in quotes if it is text."""
    holder = pointer.rpartition("/")[0]
    entries = at(args, holder)
    if not holder or not isinstance(entries, list):
        return False
    whole = "[" + ", ".join(canonical.encode(entry).decode() for entry in entries) + "]"
    return _has(rows, holder, whole)
