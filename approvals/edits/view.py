"""A place in the arguments with what is known of it: its value, its schema, whether it is secret or money."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from approvals import masks
from approvals.edits import display, marks, money, shapes
from approvals.edits.display import Shown
from approvals.edits.fitting import fit
from approvals.edits.places import ABSENT, below, is_index
from approvals.edits.shapes import Node
from approvals.edits.unfolding import alternatives
from approvals.ledger import canonical


@dataclass(frozen=True)
class Tool:
    """What a tool says of its arguments: its schema, which of them are money (pointer to the currency or its pointer),
    and which ones a policy masks besides."""

    schema: Node
    money: Mapping[str, str] = field(default_factory=dict)
    secret: Collection[str] = ()
    _taken_apart: dict[int, tuple[Any, tuple[Node, ...]]] = field(default_factory=dict, compare=False, repr=False)
    _covered: dict[tuple[int, str, bool], str | None] = field(default_factory=dict, compare=False, repr=False)

    def choices(self, node: Node | bool) -> tuple[Node, ...]:
        """What may stand where this node of the schema is; worked out once, as a list asks for each of its entries."""
        known = self._taken_apart.get(id(node))
        if known is None:
            known = self._taken_apart[id(node)] = (node, alternatives(self.schema, node))  # keeps the node and its id
        return known[1]

    def covered(self, node: Node | bool, name: str, pointer: str) -> str | None:
        """Why no value at a place may be seen, or None; worked out once for all entries of a list."""
        if masks.by_policy(pointer, self.secret):
            return masks.BY_POLICY
        choices = self.choices(node)
        key = (id(node), name, masks.inside_secret(pointer))
        if key not in self._covered:
            nodes = [node, *choices] if isinstance(node, Mapping) else [*choices]
            reasons = (masks.masked(one, name, pointer) for one in nodes)
            self._covered[key] = next((reason for reason in reasons if reason), None)
        return self._covered[key]


@dataclass(frozen=True)
class View:
    """A place in a tool's arguments. ``name`` is the last property name on the way, ``known`` if the schema has it."""

    tool: Tool
    whole: Any
    pointer: str
    name: str
    node: Node | bool
    value: Any
    known: bool = True
    wanted: bool = False
    index: int | None = None

    @property
    def called(self) -> str:
        """A member by its name, an entry of a list by its number, counted from 1."""
        return self.name if self.index is None else f"entry {self.index + 1}"

    @cached_property
    def choices(self) -> tuple[Node, ...]:
        """What may stand here."""
        return self.tool.choices(self.node)

    @cached_property
    def fit(self) -> int | None:
        """Which of the choices the value is an example of."""
        return None if self.value is ABSENT else fit(self.tool.choices, self.choices, self.value)

    @property
    def preferred(self) -> int:
        """The choice that a new value begins with: the first that is not null."""
        kinds = [shapes.kind(flat) for flat in self.choices]
        return next((index for index, kind in enumerate(kinds) if kind != "null"), 0)

    @property
    def flat(self) -> Node:
        """The schema of this place as it applies to the value."""
        return self.choices[self.preferred if self.fit is None else self.fit]

    @cached_property
    def covered(self) -> str | None:
        """Why no value of this place may be seen, whatever it is, or None."""
        return self.tool.covered(self.node, self.name, self.pointer)

    @property
    def secret(self) -> str | None:
        """Why nobody may see this value, or None. That a secret is null, or not there, is no secret."""
        if self.value is None or isinstance(self.value, bool) or self.value is ABSENT:
            return None
        return self.covered or masks.looks_secret(self.value)

    @property
    def currency(self) -> str | None:
        place = self.tool.money.get(self.pointer)
        return money.currency(money.code_at(self.whole, place)) if place else None

    @property
    def shown(self) -> Shown:
        return display.shown(self.value, secret=self.secret, code=self.currency, node=self.flat)

    def children(self) -> Iterator[View]:
        """The members in the schema's order, the required first and strangers last; or the entries of a list."""
        flat = self.flat
        if isinstance(self.value, dict):
            for name in ordered(flat, self.value):
                yield self.member(flat, name)
        elif isinstance(self.value, list):
            for index in range(len(self.value)):
                yield self.entry(flat, index)

    def member(self, flat: Node, name: str) -> View:
        node, known = shapes.member(flat, name)
        value = self.value.get(name, ABSENT)
        wanted = name in shapes.required(flat)
        return View(self.tool, self.whole, below(self.pointer, name), name, node, value, known, wanted)

    def entry(self, flat: Node, index: int) -> View:
        node = shapes.entry(flat, index)
        return View(self.tool, self.whole, below(self.pointer, index), self.name, node, self.value[index], index=index)


def root(tool: Tool, args: Any) -> View:
    """The arguments as a whole."""
    return View(tool, args, "", "", tool.schema, args)


def ordered(flat: Node, value: Mapping[str, Any]) -> list[str]:
    """The names of an object's members as people read them: required, other declared ones, the rest by name."""
    declared = [name for name in shapes.names(flat) if name in value]
    return declared + sorted(name for name in value if name not in set(declared))


def path(pointer: str) -> str:
    """A pointer in words, for those who hear it: ``items, entry 2, quantity``."""
    parts = canonical.split(pointer)
    return ", ".join(f"entry {int(part) + 1}" if is_index(part) else marks.escaped(part) for part in parts)


def secrets(args: Any, tool: Tool) -> tuple[str, ...]:
    """The pointers of the values that no surface may show."""
    return tuple(hidden(root(tool, args)))


def look_alikes(names: Collection[str]) -> set[str]:
    """The names among these that a reader could take for one another."""
    by_look: dict[str, list[str]] = {}
    for name in names:
        by_look.setdefault(marks.folded(name), []).append(name)
    return {name for group in by_look.values() if len(group) > 1 for name in group}


def hidden(view: View) -> Iterator[str]:
    """The pointers of the secrets at a place and inside of it."""
    if view.pointer and view.secret:
        yield view.pointer
        return
    for child in view.children():
        yield from hidden(child)
