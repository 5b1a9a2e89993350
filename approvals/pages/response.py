"""An answer as a form: a few plain fields where its schema has only such, else its JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from approvals import schemas
from approvals.edits import marks
from approvals.ledger import canonical
from approvals.schemas import Fault

MOST: Final = 12
"""A form has at most so many fields; an answer with more is written as JSON."""
_TYPES: Final = ("string", "integer", "number", "boolean")
_LONG: Final = 120
"""A text that may be longer than this gets a field of several lines."""


@dataclass(frozen=True)
class Option:
    """One option of a list: what the form posts, and what is read."""

    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class Place:
    """One field of the answer; ``pointer`` is where its value goes, empty for an answer that is one value."""

    number: int
    pointer: str
    label: str
    control: str
    node: Mapping[str, Any]
    required: bool
    text: str = ""
    options: tuple[Option, ...] = ()
    fault: str = ""

    @property
    def name(self) -> str:
        """What the form calls it."""
        return f"answer-{self.number}"

    @property
    def description(self) -> str:
        said = self.node.get("description")
        return marks.escaped(said[:300]) if isinstance(said, str) else ""


@dataclass(frozen=True)
class Response:
    """The form of an answer: as it was sent, if it was, and what is wrong with it."""

    places: list[Place]
    value: Any = None
    faults: tuple[Fault, ...] = ()
    sent: bool = False
    rest: list[str] = field(default_factory=list)
    """What is wrong that belongs to no field."""


def form_of(schema: Mapping[str, Any], label: str) -> Response:
    """The empty form for an answer of this schema. ``label`` names an answer that is one value."""
    return Response(_places(schema, label))


def read(sent: Mapping[str, str], schema: Mapping[str, Any], label: str) -> Response:
    """The answer out of a posted form; where it does not fit the schema, with the faults at their fields."""
    places = [_filled(place, sent.get(place.name, "")) for place in _places(schema, label)]
    try:
        value = _value(places)
    except canonical.Unrepresentable as fault:
        only = Fault("", fault.rule, f"This is no JSON: {fault.message}")
        return _told(places, None, (only,))
    return _told(places, value, schemas.validate(dict(schema), value))


def _told(places: list[Place], value: Any, faults: Iterable[Fault]) -> Response:
    found = tuple(faults)
    at = {place.pointer: place for place in places}
    shown = [replace(place, fault=_first(found, place.pointer)) for place in places]
    rest = [fault.message for fault in found if fault.pointer not in at]
    return Response(shown, value, found, sent=True, rest=rest)


def _first(faults: Iterable[Fault], pointer: str) -> str:
    return next((fault.message for fault in faults if fault.pointer == pointer), "")


# What stands in it


def _places(schema: Mapping[str, Any], label: str) -> list[Place]:
    members = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(members, dict) or not 0 < len(members) <= MOST:
        return [_single(schema, label)]
    if not all(_control(node) for node in members.values()):
        return [_json(schema, label)]
    required = [name for name in schema.get("required", []) if name in members]
    # The list of what is required keeps its order, which a stored object's members do not.
    return [
        _place(number, canonical.join([name]), members[name], _label(members[name], name), name in required)
        for number, name in enumerate([*required, *(name for name in members if name not in required)])
    ]


def _single(schema: Mapping[str, Any], label: str) -> Place:
    node = schema if schema else {"type": "string"}
    return _place(0, "", node, label, required=True) if _control(node) else _json(schema, label)


def _json(schema: Mapping[str, Any], label: str) -> Place:
    return Place(0, "", f"{label}, as JSON", "json", schema, required=True)


def _place(number: int, pointer: str, node: Mapping[str, Any], label: str, required: bool) -> Place:
    options = tuple(Option(text, marks.escaped(shown)) for text, shown in _options(node))
    return Place(number, pointer, label, _control(node), node, required, options=options)


def _label(node: Mapping[str, Any], name: str) -> str:
    title = node.get("title")
    return marks.escaped(title if isinstance(title, str) and title.strip() else name.replace("_", " ").capitalize())


def _control(node: Any) -> str:
    """The control for a node of the schema; nothing where no plain field would do."""
    if not isinstance(node, Mapping):
        return ""
    if _options(node):
        return "choice"
    kind = node.get("type")
    if kind not in _TYPES:
        return ""
    if kind == "string":
        short = "format" in node or node.get("maxLength", _LONG + 1) <= _LONG
        return "text" if short else "lines"
    return "number"


def _options(node: Mapping[str, Any]) -> list[tuple[str, str]]:
    if isinstance(node.get("enum"), list):
        return [
            (canonical.encode(each).decode(), each if isinstance(each, str) else json.dumps(each))
            for each in node["enum"]
        ]
    return [("true", "Yes"), ("false", "No")] if node.get("type") == "boolean" else []


# What was sent


def _filled(place: Place, text: str) -> Place:
    text = text.replace("\r\n", "\n")
    chosen = tuple(replace(each, chosen=each.value == text) for each in place.options)
    return replace(place, text=text, options=chosen)


def _value(places: list[Place]) -> Any:
    if places[0].pointer == "":
        return _one(places[0])
    filled = [place for place in places if place.text != ""]
    return {canonical.split(place.pointer)[0]: _one(place) for place in filled}


def _one(place: Place) -> Any:
    """A text as it is; anything else by its JSON, or as the text that it is, for the schema to refuse."""
    if place.control in {"text", "lines"}:
        return place.text
    if place.control == "json":
        return canonical.parse(place.text)
    try:
        return canonical.parse(place.text.strip())
    except canonical.Unrepresentable:
        return place.text
