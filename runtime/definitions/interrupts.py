"""Interrupts: where an agent's runs stop for people, and what of their state people may change there.

An agent's definition may say ``interrupt_before`` and ``interrupt_after``, each a list of nodes or ``["*"]`` for all;
``human_input_mode``: ALWAYS (people may steer after every step), TERMINATE (before it finishes) or NEVER;
``state_schema``, a JSON Schema of the variables that people are shown; and ``editable``, the pointers of those that
they may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals import gate

ALWAYS: Final = "ALWAYS"
TERMINATE: Final = "TERMINATE"
NEVER: Final = "NEVER"
MODES: Final = (ALWAYS, TERMINATE, NEVER)
EVERY: Final = "*"


class BadInterrupts(ValueError):
    """A definition that does not say where to stop in words that can be understood; the message names the member."""


@dataclass(frozen=True)
class Interrupts:
    """Where the runs of one version of an agent stop."""

    before: frozenset[str]
    after: frozenset[str]
    mode: str
    schema: dict[str, Any]
    editable: tuple[str, ...]

    @property
    def between_steps(self) -> bool:
        """Whether there is any reason to stop that is not the end of the run."""
        return bool(self.before or self.after or self.mode == ALWAYS)

    @property
    def at_the_end(self) -> bool:
        return self.mode in {ALWAYS, TERMINATE}

    def stops_before(self, node: str) -> bool:
        return node in self.before or EVERY in self.before

    def stops_after(self, node: str) -> bool:
        return node in self.after or EVERY in self.after

    def shown(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The variables that people are shown: those that the schema names, all where there is none."""
        named = self.schema.get("properties", state)
        return {name: state[name] for name in named if name in state}

    @property
    def shown_schema(self) -> dict[str, Any]:
        """The schema without what it requires of the whole: a run in its middle need not have everything yet."""
        return {name: said for name, said in self.schema.items() if name != "required"}


def read(definition: Mapping[str, Any]) -> Interrupts:
    """What a definition says. Raises BadInterrupts."""
    mode = definition.get("human_input_mode", NEVER)
    if mode not in MODES:
        raise BadInterrupts(f"human_input_mode is one of {', '.join(MODES)}.")
    schema = definition.get("state_schema", {})
    _check_schema(schema)
    return Interrupts(
        before=frozenset(_names(definition, "interrupt_before")),
        after=frozenset(_names(definition, "interrupt_after")),
        mode=mode,
        schema=schema,
        editable=tuple(_pointers(definition)),
    )


def _names(definition: Mapping[str, Any], member: str) -> list[str]:
    names = definition.get(member, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise BadInterrupts(f"{member} is a list of nodes' names.")
    return names


def _pointers(definition: Mapping[str, Any]) -> list[str]:
    pointers = definition.get("editable", [])
    if not isinstance(pointers, list) or not all(isinstance(each, str) and each.startswith("/") for each in pointers):
        raise BadInterrupts("editable is a list of JSON pointers into the state.")
    if pointers and not definition.get("state_schema"):
        raise BadInterrupts("editable opens variables, and state_schema has to say what they may be.")
    return pointers


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise BadInterrupts("state_schema is a JSON Schema of an object.")
    try:
        gate.admit({"name": "state", "inputSchema": {"type": "object", **schema}})
    except gate.Inadmissible as fault:
        raise BadInterrupts(f"state_schema{fault.pointer.removeprefix('/inputSchema')}: {fault.message}") from fault
