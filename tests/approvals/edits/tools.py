"""Schemas with values that fit them, drawn together; and forms rendered and sent back as a browser would."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string
from hypothesis import strategies as st

from approvals.edits import Edited, Form, Tool, fields, read
from approvals.ledger import canonical
from tests import forms

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
ODD_TEXTS = [
    "",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\n\n a",
    "a\r\nb\r\n",
    "a\rb\nc",
    "\t",
    "</textarea>",
    "&amp;",
    '"',
    "true",
    "10",
]
ODD_NAMES = ["properties", "type", "items", "a/b", "a~b", "~", "/", "", "0", "a\nb", "x y", "$ref", "$kept", "password"]
TEXTS = st.text(CHARACTERS, max_size=40) | st.sampled_from([*ODD_TEXTS, "true", "null", "１２", "\u200b"])
NAMES = st.text(CHARACTERS, min_size=1, max_size=12) | st.sampled_from([*ODD_NAMES, "token", "secret"])
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: canonical.parse(canonical.encode(number)))
NUMBERS = INTEGERS | FLOATS | st.just(1e21)
PLAIN = st.none() | st.booleans() | NUMBERS | TEXTS
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


@st.composite
def pairs(draw: st.DrawFn, depth: int = 3) -> tuple[dict[str, Any], Any]:
    """A schema node and a value that fits it."""
    kinds = ["text", "integer", "number", "boolean", "enum", "const", "null", "any", "bag"]
    kinds += ["list", "object", "object", "map", "choice", "nullable", "types"] if depth else []
    return draw(_KINDS[draw(st.sampled_from(kinds))](depth))


@st.composite
def objects(draw: st.DrawFn, depth: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """An object's schema and an object that fits it, with members left out and strangers let in."""
    properties: dict[str, Any] = {}
    value: dict[str, Any] = {}
    required: list[str] = []
    for name in draw(st.lists(NAMES, unique=True, max_size=4)):
        properties[name], inner = draw(pairs(depth - 1))
        fate = draw(st.sampled_from(["required", "given", "absent"]))
        required += [name] if fate == "required" else []
        value |= {} if fate == "absent" else {name: inner}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    rest = draw(st.sampled_from(["unsaid", "true", "false"]))
    if rest != "unsaid":
        schema["additionalProperties"] = rest == "true"
    strangers = draw(st.dictionaries(NAMES, ANYTHING, max_size=2)) if rest != "false" else {}
    return schema, {name: inner for name, inner in strangers.items() if name not in properties} | value


@st.composite
def _lists(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], Any]:
    node, value = draw(pairs(depth - 1))
    return {"type": "array", "items": node}, [value] * draw(st.integers(0, 3))


@st.composite
def _maps(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], Any]:
    node, value = draw(pairs(depth - 1))
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    return {"type": "object", "additionalProperties": node}, dict.fromkeys(names, value)


@st.composite
def _choices(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], Any]:
    branches = draw(st.lists(pairs(depth - 1), min_size=1, max_size=3))
    return {"anyOf": [node for node, _ in branches]}, draw(st.sampled_from([value for _, value in branches]))


@st.composite
def _nullables(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], Any]:
    node, value = draw(pairs(depth - 1))
    return {"anyOf": [node, {"type": "null"}], "default": None}, draw(st.sampled_from([value, None]))


@st.composite
def _enums(draw: st.DrawFn, depth: int) -> tuple[dict[str, Any], Any]:
    options = draw(st.lists(PLAIN, min_size=1, max_size=4))
    return {"enum": options}, draw(st.sampled_from(options))


_KINDS: dict[str, Any] = {
    "text": lambda depth: st.tuples(st.just({"type": "string"}), TEXTS),
    "integer": lambda depth: st.tuples(st.just({"type": "integer"}), INTEGERS),
    "number": lambda depth: st.tuples(st.just({"type": "number"}), NUMBERS),
    "boolean": lambda depth: st.tuples(st.just({"type": "boolean"}), st.booleans()),
    "null": lambda depth: st.just(({"type": "null"}, None)),
    "const": lambda depth: PLAIN.map(lambda value: ({"const": value}, value)),
    "any": lambda depth: st.tuples(st.just({}), ANYTHING),
    "bag": lambda depth: st.tuples(st.just({"type": "object"}), st.dictionaries(NAMES, ANYTHING, max_size=3)),
    "types": lambda depth: st.tuples(st.just({"type": ["string", "number", "boolean", "null"]}), PLAIN),
    "enum": _enums,
    "list": _lists,
    "map": _maps,
    "object": objects,
    "choice": _choices,
    "nullable": _nullables,
}


def drawn(form: Form) -> forms.Form:
    """The form as a browser has it."""
    html = render_to_string("edits/fields.html", {"form": form})
    return forms.Form(f'{html}<button name="do" value="save">Save</button>')


def form_of(tool: Tool, value: Any, **more: Any) -> forms.Form:
    return drawn(fields(tool, value, **more))


def saved(form: forms.Form, tool: Tool, value: Any, **more: Any) -> Edited:
    """What pressing Save sends."""
    return read(form.posted("save"), tool, value, **more)


def pressed(form: forms.Form, do: str, tool: Tool, value: Any, **more: Any) -> forms.Form:
    """The form as it comes back after another button."""
    edited = read(form.posted(do), tool, value, **more)
    assert edited.form is not None
    return drawn(edited.form)
