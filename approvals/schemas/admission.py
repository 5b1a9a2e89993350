"""Taking in a tool's definition: what cannot be followed is refused, what is loose is admitted with a warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approvals.ledger import canonical
from approvals.schemas import survey
from approvals.schemas.looseness import Warning_
from approvals.schemas.survey import Inadmissible

SCHEMA_BYTES = 128 * 1024
DESCRIPTION_BYTES = 16 * 1024
DEPTH = 32
NAME_LENGTH = 200

_TEXTS = ("title", "description")
_SCHEMAS = ("inputSchema", "outputSchema")
_MEMBERS = ("name", *_TEXTS, *_SCHEMAS, "annotations")


@dataclass(frozen=True)
class Admission:
    """A definition as it was taken in, SHA-256 of its canonical bytes, and what its approvers should know about it."""

    definition: dict[str, Any]
    digest: str
    warnings: tuple[Warning_, ...]


def admit(definition: dict[str, Any]) -> Admission:
    """Take in a tool's name, title, description, inputSchema, outputSchema and annotations; other members are left out.

    Raises Inadmissible for a name that is no text, a root that is no object, a schema that its draft's metaschema
    refuses, a reference that leaves the schema or only leads to itself, and what exceeds a limit.
    """
    if not isinstance(definition, dict):
        raise Inadmissible("", "type", "A tool's definition is an object.")
    kept = {name: definition[name] for name in _MEMBERS if definition.get(name) is not None}
    _check_members(kept)
    data = _canonical(kept, "", max_depth=DEPTH + 2)
    kept = canonical.parse(data, max_bytes=len(data))
    warnings = [
        Warning_(canonical.join([name]), "This is no part of a tool's definition here and is left out.", "member")
        for name in definition
        if name not in _MEMBERS
    ]
    for name in _SCHEMAS:
        warnings += survey.survey(kept[name], f"/{name}") if name in kept else []
    return Admission(kept, canonical.sha256_hex(data), tuple(warnings))


def _check_members(definition: dict[str, Any]) -> None:
    name = definition.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH:
        raise Inadmissible("/name", "name", f"A tool's name is a text of 1 to {NAME_LENGTH} characters.")
    for text in _TEXTS:
        if not isinstance(definition.get(text, ""), str):
            raise Inadmissible(f"/{text}", "type", f"A tool's {text} is a text.")
        if len(_canonical(definition.get(text, ""), f"/{text}")) > DESCRIPTION_BYTES:
            raise Inadmissible(f"/{text}", "bytes", f"A tool's {text} has at most {DESCRIPTION_BYTES:,} bytes.")
    if not isinstance(definition.get("annotations", {}), dict):
        raise Inadmissible("/annotations", "type", "A tool's annotations are an object.")
    for schema in ("inputSchema", *(each for each in _SCHEMAS[1:] if each in definition)):
        _check_root(definition.get(schema), schema)


def _check_root(schema: Any, member: str) -> None:
    if not isinstance(schema, dict):
        raise Inadmissible(f"/{member}", "root", f"A tool's {member} is an object.")
    types = schema.get("type", "object")
    if types != "object" and not (isinstance(types, list) and "object" in types):
        raise Inadmissible(f"/{member}/type", "root", "A tool takes and gives objects: the type here must be object.")
    if len(_canonical(schema, f"/{member}", max_depth=DEPTH)) > SCHEMA_BYTES:
        raise Inadmissible(f"/{member}", "bytes", f"A schema has at most {SCHEMA_BYTES:,} bytes.")


def _canonical(value: Any, pointer: str, max_depth: int = DEPTH) -> bytes:
    try:
        return canonical.encode(value, max_depth=max_depth)
    except canonical.Unrepresentable as fault:
        raise Inadmissible(pointer + fault.pointer, fault.rule, fault.message) from None
