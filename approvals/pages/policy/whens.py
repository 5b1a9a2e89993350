"""The condition of a rule as rows of a form: an argument, how it is compared, and with what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from approvals.ledger import canonical

Row = tuple[str, str, str]
"""The name of an argument, a comparison of `COMPARISONS`, and the value as it is typed."""
GIVEN: Final = "given"
COMPARISONS: Final[dict[str, tuple[str, str]]] = {
    "maximum": ("is at most", "maximum"),
    "minimum": ("is at least", "minimum"),
    "exclusiveMaximum": ("is below", "exclusiveMaximum"),
    "exclusiveMinimum": ("is above", "exclusiveMinimum"),
    "const": ("is", "const"),
    "enum": ("is one of", "enum"),
    "pattern": ("fits the pattern", "pattern"),
    "type": ("is of type", "type"),
    GIVEN: ("is given", ""),
}
NUMBERS: Final = {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"}


def rows(when: Mapping[str, Any]) -> list[Row] | None:
    """The rows of a condition whose arguments all have to be there; None where it says more than rows can."""
    inner, required = when.get("properties", {}), when.get("required", [])
    if not when.keys() <= {"properties", "required"} or not isinstance(inner, dict) or not isinstance(required, list):
        return None
    if any(name not in required for name in inner):
        return None
    found: list[Row] = []
    for name, schema in inner.items():
        if not isinstance(schema, dict) or not schema or not schema.keys() <= COMPARISONS.keys():
            return None
        found += [(name, word, _shown(value)) for word, value in schema.items()]
    found += [(name, GIVEN, "") for name in required if name not in inner]
    return found if _says(condition(found), when) else None


def condition(typed: Sequence[Row]) -> dict[str, Any]:
    """The condition that rows say; what names no argument is left out."""
    inner: dict[str, dict[str, Any]] = {}
    required: list[str] = []
    for name, word, value in typed:
        if not name or word not in COMPARISONS:
            continue
        required += [name] if name not in required else []
        if word != GIVEN:
            inner.setdefault(name, {})[word] = _read(word, value.strip())
    said: dict[str, Any] = {"required": required} if required else {}
    return said | ({"properties": inner} if inner else {})


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, str) and not isinstance(_value(value), str):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value)


def _read(word: str, typed: str) -> Any:
    if word == "enum":
        return [_value(one.strip()) for one in typed.split(",") if one.strip()]
    if word in {"pattern", "type"}:
        return typed
    plain = typed.replace(",", "").replace(" ", "") if word in NUMBERS else typed
    return _value(plain)


def _value(text: str) -> Any:
    """A number, true, false, null or a text in quotation marks; anything else is a text as it stands."""
    try:
        found = canonical.parse(text)
    except canonical.Unrepresentable:
        return text
    return text if isinstance(found, dict | list) else found


def _says(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    def ordered(said: Mapping[str, Any]) -> bytes:
        return canonical.encode(dict(said) | {"required": sorted(said.get("required", []))})

    return ordered(one) == ordered(other)
