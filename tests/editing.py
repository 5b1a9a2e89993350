"""A person who edits: brings a form from one set of arguments to another with the controls and buttons it offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from approvals.edits import money, same
from approvals.edits.difference import aligned
from approvals.edits.places import below
from approvals.edits.posted import wire
from approvals.edits.shapes import written
from approvals.ledger import canonical
from tests.forms import Form

Press = Callable[[Form, str], Form]
"""Press the button of this value and give the form that comes back."""


class NotOffered(Exception):
    """The form has no control or button for this change: the place, and what was wanted there."""


class Editor:
    """Holds the form as it stands. ``loose`` sends options that a select does not offer, as no browser would."""

    def __init__(self, form: Form, press: Press, *, loose: bool = False) -> None:
        self.form, self.press, self.loose = form, press, loose

    def change(self, before: Any, after: Any, pointer: str = "") -> Form:
        """Make the change, part by part. Raises NotOffered; the form is then half changed and may be thrown away."""
        if not same(before, after):
            self._change(before, after, pointer)
        return self.form

    def _change(self, before: Any, after: Any, pointer: str) -> None:
        if f"f:{wire(pointer)}" in self.form:
            if not self._typed(after, pointer):
                self._switch(after, pointer)
        elif isinstance(before, dict) and isinstance(after, dict):
            self._object(before, after, pointer)
        elif isinstance(before, list) and isinstance(after, list):
            self._entries(before, after, pointer)
        else:
            self._switch(after, pointer)

    def _object(self, before: dict[str, Any], after: dict[str, Any], pointer: str) -> None:
        """Change the members; where this kind of object does not allow it, make it one of another kind."""
        form = self.form
        try:
            self._members(before, after, pointer)
        except NotOffered:
            self.form = form
            if f"d:{wire(pointer)}" not in form:
                raise
            self._switch(after, pointer)

    def _members(self, before: dict[str, Any], after: dict[str, Any], pointer: str) -> None:
        for name in [name for name in before if name not in after]:
            self._press(f"remove:{below(pointer, name)}")
        for name, value in after.items():
            place = below(pointer, name)
            if name in before:
                self.change(before[name], value, place)
                continue
            self._bring(name, pointer)
            self._fill(value, place)

    def _bring(self, name: str, pointer: str) -> None:
        """Let a member that is not there appear."""
        if self._offers(f"add:{below(pointer, name)}"):
            self._press(f"add:{below(pointer, name)}")
        elif f"k:{wire(pointer)}" in self.form:
            self.form[f"k:{wire(pointer)}"] = name
            self._press(f"insert:{pointer}")
        else:
            raise NotOffered(below(pointer, name), "a new member")

    def _entries(self, before: list[Any], after: list[Any], pointer: str) -> None:
        """Take out what has no counterpart, from the end; then go through the list place by place."""
        kept = list(before)
        surplus = [old for old, new in aligned(before, after) if old is not None and new is None]
        for index in sorted(surplus, reverse=True)[: max(len(before) - len(after), 0)]:
            self._press(f"remove:{below(pointer, index)}")
            del kept[index]
        for index, value in enumerate(after):
            if index < len(kept):
                self.change(kept[index], value, below(pointer, index))
            else:
                self._press(f"append:{pointer}")
                self._fill(value, below(pointer, index))

    def _fill(self, value: Any, pointer: str) -> None:
        """Give a part that has just appeared its value."""
        if f"f:{wire(pointer)}" in self.form and self._typed(value, pointer):
            return
        if isinstance(value, dict) and self._holds(pointer):
            for name, inner in value.items():
                if f"s:{wire(below(pointer, name))}" not in self.form:
                    self._bring(name, pointer)
                self._fill(inner, below(pointer, name))
        elif isinstance(value, list) and self._offers(f"append:{pointer}"):
            self._entries([], value, pointer)
        elif (
            f"f:{wire(pointer)}" in self.form or self._holds(pointer) or not (value is None or self._is_fixed(pointer))
        ):
            self._switch(value, pointer)

    def _is_fixed(self, pointer: str) -> bool:
        """Whether the place is there and leaves nothing to choose: a fixed value."""
        names = set(self.form.names())
        return (
            f"s:{wire(pointer)}" in names
            and not names & {f"d:{wire(pointer)}", f"f:{wire(pointer)}"}
            and not self._holds(pointer)
        )

    def _holds(self, pointer: str) -> bool:
        """Whether the place is drawn as an object."""
        inner = [name for name in self.form.names() if name.startswith((f"s:{wire(pointer)}/", f"k:{wire(pointer)}"))]
        return bool(inner) or any(value.startswith(f"add:{wire(pointer)}/") for _, value in self.form.buttons)

    def _typed(self, value: Any, pointer: str) -> bool:
        """Write a value into the one control of a place, if it is one for such values."""
        control = self.form.control(f"f:{wire(pointer)}")
        text = written(value)
        if control.kind == "select":
            if text not in control.options and not self.loose:
                return False
            control.value = text
        elif "code" in control.classes:
            control.value = text
        elif "number" in control.classes:
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
            control.value = self._figures(value, pointer)
        elif isinstance(value, str):
            self.form[control.name] = value
            return control.value == value.replace("\r\n", "\n")
        else:
            return False
        return True

    def _figures(self, value: int | float, pointer: str) -> str:
        """An amount of cents the way its control has it, where it is one with its places written out."""
        old = self.form[f"f:{wire(pointer)}"]
        return money.figures(value, "EUR") if "." in old and isinstance(value, int) else written(value)

    def _switch(self, value: Any, pointer: str) -> None:
        """Choose another kind of value where several are offered, and give it."""
        name = f"s:{wire(pointer)}"
        options = self.form.control(name).options if name in self.form else {}
        for state, label in options.items():
            if state == self.form[name] or (label == "null") != (value is None):
                continue
            self.form[name] = state
            self._press("draw")
            try:
                self._fill(value, pointer)
            except NotOffered:
                continue
            return
        raise NotOffered(pointer, type(value).__name__)

    def _offers(self, do: str) -> bool:
        return any(value == wire(do) for _, value in self.form.buttons)

    def _press(self, do: str) -> None:
        if not self._offers(do):
            raise NotOffered(do, "a button")
        self.form = self.press(self.form, wire(do))


def bytes_of(value: Any) -> bytes:
    """What must arrive."""
    return canonical.encode(value)
