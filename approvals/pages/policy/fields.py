"""The fields of the form for a rule, made of the words that a rule may say: a word of a known shape has a field here as
soon as it is in the table of words, and one of another shape is kept as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals.policy_documents import RULE_SCHEMA
from approvals.policy_words import DURATION

Typed = Mapping[str, Any]
"""What stands in the fields: texts, and lists of texts for ticks."""


@dataclass(frozen=True)
class Field:
    """One word of a rule: ``kind`` is duration, choice, ticks, flag, lines or text."""

    name: str
    kind: str
    options: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return _LABELS.get(self.name, (self.name.replace("_", " ").capitalize(), ""))[0]

    @property
    def hint(self) -> str:
        return _LABELS.get(self.name, ("", ""))[1]

    def shown(self, value: Any) -> Any:
        """A value of the word as it stands in the field."""
        if self.kind == "ticks":
            return list(value or ())
        if self.kind == "lines":
            return "" if value is None else "\n".join(map(str, value)) or NONE
        if self.kind == "flag":
            return "" if value is None else "yes" if value else "no"
        return "" if value is None else str(value)

    def read(self, typed: Any) -> Any:
        """What the field says; None where it says nothing, so that the word is left out."""
        if self.kind == "ticks":
            return [one for one in self.options if one in typed] or None
        said = str(typed).strip()
        if self.kind == "lines":
            return [] if said == NONE else [line.strip() for line in said.splitlines() if line.strip()] or None
        if self.kind == "flag":
            return {"yes": True, "no": False}.get(said)
        return int(said) if self.kind == "duration" and said.isdecimal() and len(said) < 12 else said or None


NONE: Final = "none"
"""What stands in a field of lines for the empty list, which says something else than no list."""
_OWN: Final = {"id", "match", "verdict", "approvals"}
"""The words that the form asks for in its own way."""


def _kind(schema: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    if schema == DURATION:
        return "duration", ()
    if "enum" in schema:
        return "choice", tuple(str(one) for one in schema["enum"])
    if schema.get("type") == "boolean":
        return "flag", ()
    inner = schema.get("items", {})
    if schema.get("type") == "array" and "enum" in inner:
        return "ticks", tuple(str(one) for one in inner["enum"])
    if schema.get("type") == "array" and inner.get("type") == "string":
        return "lines", ()
    return ("text", ()) if schema.get("type") == "string" else None


def _fields() -> tuple[Field, ...]:
    found = {name: _kind(schema) for name, schema in RULE_SCHEMA["properties"].items() if name not in _OWN}
    fields = {name: Field(name, *kind) for name, kind in found.items() if kind}
    first = [name for name in _LABELS if name in fields]
    return tuple(fields[name] for name in [*first, *(name for name in fields if name not in first)])


_LABELS: Final[dict[str, tuple[str, str]]] = {
    "reason": ("Reason", "A sentence for people, and on a refusal for the agent."),
    "risk": ("Risk", "Else what the tool's own hints suggest."),
    "deadline": ("Deadline", "Such as 30m, 4h or 2d; 1d where it says nothing."),
    "on_deadline": ("Then", "What happens when nobody decides in time."),
    "remind_after": ("Reminder every", "Such as 1h."),
    "editable": ("May be edited", "One argument a line, such as /amount. Empty: everything. “none”: nothing."),
    "allowed_decisions": ("People may", "Else approve, edit and reject."),
    "editor_may_approve": ("An edit is also a yes", "Else only where one person is enough."),
    "prevent_self_review": ("Never by whoever asks", "Else never, for calls."),
    "assurance": ("How sure it is who decides", "fresh: signed in within the last five minutes."),
    "require_message_on": ("Words are needed on", "A rejection needs them always."),
    "batch": ("May be answered together", "Several from the inbox at once; never what is of high risk."),
    "hold_after": ("Held back after the yes for", "Time in which people may stop it, such as 15m."),
    "valid_for": ("A yes is good for", "Such as 1d."),
    "freeze": ("Not sent during", "Names of the document's freezes, one a line."),
}
FIELDS: Final = _fields()
KEPT: Final = tuple(name for name in RULE_SCHEMA["properties"] if name not in _OWN | {each.name for each in FIELDS})
"""The words that have no field: they stay as they are written."""
