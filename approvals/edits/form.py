"""The form of an edit: a tree of fields."""

from __future__ import annotations

from dataclasses import dataclass, field

from approvals.edits.field import Field


@dataclass
class Form:
    """The fields of one revision's arguments, and what is wrong with them. ``before`` is its name."""

    root: Field
    faults: list[tuple[str, str, str]] = field(default_factory=list)
    before: str = "Proposed"

    @property
    def fields(self) -> list[Field]:
        """The rows of the form: one for each argument, or one for all where only JSON can hold them."""
        return self.root.children if self.root.control == "object" else [self.root]

    @property
    def absent(self) -> list[Field]:
        return self.root.absent

    @property
    def faulty(self) -> list[Field]:
        """The fields with something to mend, in reading order."""
        return [one for one in self.root.walk() if one.faults]

    @property
    def masked(self) -> int:
        """How many secrets are not shown."""
        return sum(1 for one in self.root.walk() if one.control == "secret")
