"""A field of a form: one place in the arguments with its control, and all that is said of it. `grow` builds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from approvals.edits import limits, marks, money, shapes, view
from approvals.edits.display import Shown
from approvals.edits.marks import Segment
from approvals.edits.posted import wire
from approvals.edits.table import Argument, below
from approvals.edits.view import View

DESCRIPTION_MAX = 300
"""A longer description is cut here, with the rest a click away."""

Control = Literal[
    "text", "lines", "number", "money", "choice", "fixed", "null", "list", "object", "raw", "secret", "locked", "absent"
]


@dataclass(frozen=True)
class Option:
    """One option of a choice. ``value`` is what the form posts for it, ``label`` what is read."""

    value: str
    label: str
    chosen: bool


@dataclass
class Field:
    """One place of the form.

    ``origin`` is the pointer, in the revision being edited, of the value that this field began with; None if it is new.
    ``state`` is the number of the chosen alternative, ``raw`` or ``absent``; ``choices`` are those to choose from.
    """

    pointer: str
    origin: str | None
    control: Control
    view: View
    flat: shapes.Node
    state: str
    number: int
    text: str = ""
    posted: bool = False
    choices: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()
    children: list[Field] = field(default_factory=list)
    absent: list[Field] = field(default_factory=list)
    removable: bool = False
    entry: bool = False
    grows: Literal["", "entry", "member"] = ""
    locked: str = ""
    code: str = ""
    value: Any = None
    changed: bool = False
    faults: list[str] = field(default_factory=list)
    line: int | None = None
    focus: bool = False
    new_name: str = ""

    @property
    def id(self) -> str:
        """An id for the control, unique in the form."""
        return f"field-{self.number}"

    @property
    def key(self) -> tuple[Segment, ...]:
        """The literal name, every invisible character marked; for an entry of a list its number, counted from 1."""
        return marks.segments(self.view.called)

    @cached_property
    def label(self) -> str:
        """What people call the field: its title in the schema, else its name in words."""
        title = self.flat.get("title") if not self.entry else None
        if isinstance(title, str) and title.strip():
            return marks.escaped(title.strip())
        return self.view.called.capitalize() if self.entry else marks.escaped(self.view.name)

    @property
    def speaks(self) -> bool:
        """Whether the label says more than the literal name."""
        return self.label != marks.escaped(self.view.name) and not self.entry

    @property
    def description(self) -> str:
        """The beginning of the description: plain text from outside, never markup."""
        return self._described[:DESCRIPTION_MAX]

    @property
    def description_rest(self) -> str:
        return self._described[DESCRIPTION_MAX:]

    @cached_property
    def _described(self) -> str:
        text = self.flat.get("description")
        return marks.escaped(text.strip()) if isinstance(text, str) else ""

    @property
    def placeholder(self) -> str:
        """The default that the tool itself would take; it is never written into the arguments."""
        if "default" not in self.flat or self.flat["default"] is None or self.view.covered:
            return ""
        default = self.flat["default"]
        return default if isinstance(default, str) else shapes.written(default)

    @property
    def proposed(self) -> Shown | None:
        """The value it began with, where that is to be said beside what it is now."""
        told = self.origin is not None and self.changed and self.control not in ("secret", "absent")
        return self.view.shown if told else None

    @property
    def tone(self) -> str:
        """A class for the control: that it was changed; what is wrong with it says so itself."""
        return " changed" if self.changed and not self.faults else ""

    @property
    def unseen(self) -> int:
        """How many characters of the text cannot be seen."""
        return marks.count(self.text) if self.control in ("text", "lines") else 0

    @property
    def unseen_where(self) -> str:
        """Where the first of them stands: the code point and the word before it."""
        return marks.first_unseen(self.text)

    @property
    def warnings(self) -> tuple[str, ...]:
        strange = () if self.view.known or self.control == "absent" else ("Not in the tool’s schema.",)
        return strange + (marks.warnings(self.text) if self.control in ("text", "lines") else ())

    @property
    def required(self) -> bool:
        return self.view.wanted

    @cached_property
    def path(self) -> str:
        """Where the field stands, in words: ``items, entry 2, quantity``."""
        return view.path(self.pointer)

    @property
    def labelled(self) -> bool:
        """Whether there is one control that a label can name."""
        return self.control in ("text", "lines", "number", "money", "choice", "raw") or self.asks

    @property
    def asks(self) -> bool:
        """Whether a secret is being replaced."""
        return self.control == "secret" and self.posted

    @property
    def told(self) -> bool:
        """Whether there is anything to be said below the control."""
        said = self.faults or self.locked or self.proposed or self.unseen or self.warnings or self.limits
        return bool(said or self.description or self.control == "secret")

    @property
    def limits(self) -> str:
        return limits.words(self.flat, self.code) if self.control in ("text", "lines", "number", "money") else ""

    @property
    def counted(self) -> str:
        return limits.entries(self.flat, len(self.children))

    @property
    def unit(self) -> str:
        return money.symbol(self.code).strip()

    @property
    def fixed(self) -> tuple[Segment, ...]:
        return marks.segments(shapes.plain(self.flat["const"]))

    @property
    def many_lines(self) -> bool:
        """Whether the text that a secret is replaced with may need more than one line."""
        return self.control == "secret" and isinstance(self.view.value, str) and "\n" in self.view.value

    @property
    def wire(self) -> str:
        """The pointer as it stands in the names of controls."""
        return wire(self.pointer)

    @property
    def holder_wire(self) -> str:
        """The same for the list or the object that the field stands in."""
        return wire(self.pointer.rpartition("/")[0])

    @property
    def token(self) -> str:
        """How an entry is named among those of its list: by the index it had, or ``+``; empty in a closed list."""
        if not (self.entry and self.removable):
            return ""
        return "+" if self.origin is None else self.origin.rpartition("/")[2]

    @property
    def plain(self) -> bool:
        """Whether an entry fits a line: one control, and no kinds to choose from."""
        return not self.wide and self.control not in ("raw", "locked") and not self.choices

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are welcome."""
        return self.flat.get("type") == "integer"

    @property
    def rows(self) -> int:
        """How high a text area is drawn."""
        return min(max(self.text.count("\n") + 1, len(self.text) // 64 + 1), 24)

    @property
    def shown(self) -> Shown:
        return self.view.shown

    @property
    def arguments(self) -> list[Argument]:
        """A locked list or object as rows to be read."""
        return below(self.view)

    @property
    def wide(self) -> bool:
        """Whether the field has parts of its own."""
        return self.control in ("list", "object")

    def walk(self) -> Iterator[Field]:
        """This field and all below it, in reading order, those that may be added last."""
        yield self
        for child in (*self.children, *self.absent):
            yield from child.walk()
