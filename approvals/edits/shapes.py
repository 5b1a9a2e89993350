"""What a schema node without references and choices says: its kind, its members, its entries, what to call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from approvals.ledger import canonical
from approvals.schemas import budgets, order, patterns

Node = Mapping[str, Any]
Kind = Literal["text", "number", "boolean", "null", "enum", "const", "list", "object", "raw"]

LABEL = "x-placet-label"
"""Where an alternative keeps the title of the branch it came from."""

ANYTHING: Node = {}


def kind(flat: Node) -> Kind:
    """How an alternative is drawn: ``raw`` for whatever a form has no better control for."""
    if "const" in flat:
        return "const"
    if isinstance(flat.get("enum"), list) and flat["enum"]:
        return "enum"
    match flat.get("type"):
        case "string":
            return "text"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "null":
            return "null"
        case "array":
            return "list" if _has_entries(flat) else "raw"
        case "object":
            return "object" if flat.get("properties") or flat.get("patternProperties") or is_map(flat) else "raw"
    return "raw"


def is_map(flat: Node) -> bool:
    """Whether members of any name are welcome, all of one declared shape."""
    rest = flat.get("additionalProperties")
    return isinstance(rest, Mapping) and bool(rest)


def is_open(flat: Node) -> bool:
    """Whether the schema itself says that members it does not name may be added."""
    rest = flat.get("additionalProperties")
    return rest is True or isinstance(rest, Mapping)


def declares(flat: Node) -> bool:
    """Whether the object names its members, by themselves or by a pattern; one that does not is a bag of data."""
    return bool(_mapping(flat, "properties") or _mapping(flat, "patternProperties"))


def marked(node: Node | bool, choices: tuple[Node, ...], word: str) -> bool:
    """Whether the schema says this word of a place, in whichever alternative."""
    return any(isinstance(one, Mapping) and one.get(word) is True for one in (node, *choices))


def names(flat: Node) -> list[str]:
    """The names of the declared members: the required first, as they are listed, then the others as their author
    wrote them."""
    properties = _mapping(flat, "properties")
    wanted = [name for name in _required(flat) if name in properties]
    return [*dict.fromkeys([*wanted, *order.names_in_order(flat, list(properties))])]


def required(flat: Node) -> set[str]:
    return set(_required(flat))


def member(flat: Node, name: str) -> tuple[Node | bool, bool]:
    """The schema of an object's member, and whether the schema knows it: by name, by pattern, as an entry of a map.

    An object that names no members at all knows every name.
    """
    properties = _mapping(flat, "properties")
    if name in properties:
        return properties[name], True
    for pattern, node in _mapping(flat, "patternProperties").items():
        if _found(pattern, name):
            return node, True
    rest = flat.get("additionalProperties")
    return (rest, True) if isinstance(rest, Mapping) and rest else (ANYTHING, not declares(flat))


def firsts(flat: Node) -> int:
    """How many first entries of a list have a schema of their own."""
    return len(_firsts(flat))


def _firsts(flat: Node) -> list[Any]:
    found = flat.get("prefixItems", flat.get("items"))
    return found if isinstance(found, list) else []


def entry(flat: Node, index: int) -> Node | bool:
    """The schema of a list's entry."""
    if index < firsts(flat):
        node: Node | bool = _firsts(flat)[index]
        return node
    rest = flat.get("items") if not isinstance(flat.get("items"), list) else flat.get("additionalItems")
    return rest if isinstance(rest, Mapping) else ANYTHING


def label(flat: Node) -> str:
    """What to call an alternative where one is chosen from several."""
    if isinstance(title := flat.get(LABEL), str) and title.strip():
        return title.strip()
    match kind(flat):
        case "const":
            return written(flat["const"])
        case "enum":
            return (
                "One of "
                + ", ".join(written(option) for option in flat["enum"][:3])
                + ("…" if flat["enum"][3:] else "")
            )
        case "object":
            return _object_label(flat)
        case "list":
            return "List"
    words = {"string": "Text", "integer": "Whole number", "number": "Number", "boolean": "Yes or no", "null": "null"}
    return words.get(str(flat.get("type")), {"array": "List", "object": "Object"}.get(str(flat.get("type")), "JSON"))


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 is not true, "" is not null; 1.0 is 1, as in their canonical bytes."""
    return canonical.encode(one) == canonical.encode(other)


def written(value: Any) -> str:
    """The canonical JSON text of a value."""
    return canonical.encode(value).decode()


def plain(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else written(value)


def has_type(value: Any, name: object) -> bool:
    """Whether a value is of a JSON Schema type. Whole numbers are integers however they were written."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return number and float(value).is_integer()
        case "number":
            return number
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return name is None


def options(flat: Node) -> list[Any]:
    """The values that an alternative of few values stands for; none if it stands for many."""
    match kind(flat):
        case "const":
            return [flat["const"]]
        case "enum":
            return list(flat["enum"])
        case "boolean":
            return [True, False]
        case "null":
            return [None]
    return []


def _object_label(flat: Node) -> str:
    properties = _mapping(flat, "properties")
    for name, node in properties.items():
        options = node.get("enum") if isinstance(node, Mapping) else None
        fixed = (
            node["const"]
            if isinstance(node, Mapping) and "const" in node
            else options[0]
            if isinstance(options, list) and len(options) == 1
            else None
        )
        if fixed is not None:
            return f"{name} {canonical.encode(fixed).decode()}"
    return (
        "Object with " + ", ".join(names(flat)[:3]) + ("…" if len(properties) > 3 else "") if properties else "Object"
    )


def _has_entries(flat: Node) -> bool:
    return any(isinstance(flat.get(word), (Mapping, list)) and flat[word] for word in ("items", "prefixItems"))


def _required(flat: Node) -> list[str]:
    wanted = flat.get("required")
    return [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []


def _mapping(flat: Node, word: str) -> Mapping[str, Any]:
    found = flat.get(word)
    return found if isinstance(found, Mapping) else {}


def _found(pattern: str, name: str) -> bool:
    """Whether an unanchored pattern occurs in the name; one that is not checked here matches nothing."""
    try:
        with budgets.limited():
            return bool(patterns.found(pattern, name))
    except budgets.OverBudget:
        return False
