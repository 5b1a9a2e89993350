"""What two policy documents differ in, told by rules and words: a diff of their texts would show the defaults that one
of them writes out, and hide that a rule changed its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from approvals.edits import marks
from approvals.ledger import canonical

ABSENT: Final = object()
"""What stands in the place of a value that one of the two does not have."""
_SHOWN = 200


@dataclass(frozen=True)
class Difference:
    """One thing in which they differ. ``what`` is added, removed, moved or changed; ``where`` a rule, as ``rule
    refunds``, or a word at the top of the document; ``word`` the pointer inside it, empty for the whole."""

    what: str
    where: str
    word: str = ""
    before: Any = ABSENT
    after: Any = ABSENT

    def __str__(self) -> str:
        return self._told(_SHOWN)

    @property
    def full(self) -> str:
        """The same with nothing cut off."""
        return self._told(None)

    def _told(self, most: int | None) -> str:
        place = f"{self.where} {self.word}".strip()
        if self.what == "moved":
            return f"~ {place}: from place {self.before} to place {self.after}"
        if self.what == "changed":
            return f"* {place}: {_shown(self.before, most)} -> {_shown(self.after, most)}"
        sign, value = ("+", self.after) if self.what == "added" else ("-", self.before)
        return f"{sign} {place}: {_shown(value, most)}"


def _shown(value: Any, most: int | None) -> str:
    text = "nothing" if value is ABSENT else marks.escaped(canonical.encode(value).decode())
    return text if most is None or len(text) <= most else f"{text[:most]}… (+{len(text) - most} characters)"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """All that two documents with their defaults written out differ in: the words at the top, then the rules in the
    order of the later one. Rules are the same if they have the same id; their order counts, as the first that matches
    decides."""
    old, new = ({key: value for key, value in each.items() if key != "rules"} for each in (before, after))
    found = [Difference(what, word[1:], "", was, now) for what, word, was, now in _inside(old, new, "", deep=False)]
    return found + list(_rules(before["rules"], after["rules"]))


def inside(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """All that two objects which are no policies differ in."""
    return [Difference(what, "", word, was, now) for what, word, was, now in _inside(before, after, "")]


def _rules(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    old, new = ({rule["id"]: rule for rule in rules} for rules in (before, after))
    for name, rule in old.items():
        if name not in new:
            yield Difference("removed", f"rule {name}", before=rule)
    moved = _moved([name for name in old if name in new], [name for name in new if name in old])
    places = {name: (list(old).index(name) + 1, list(new).index(name) + 1) for name in moved}
    for name, rule in new.items():
        if name not in old:
            yield Difference("added", f"rule {name}", after=rule)
            continue
        if name in places:
            yield Difference("moved", f"rule {name}", "", *places[name])
        for what, word, was, becomes in _inside(old[name], rule, ""):
            yield Difference(what, f"rule {name}", word, was, becomes)


def _moved(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Those that have to be moved to make one order out of the other, where all others stay."""
    kept = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return set(old) - {old[block.a + offset] for block in kept for offset in range(block.size)}


def _inside(
    before: Mapping[str, Any], after: Mapping[str, Any], at: str, *, deep: bool = True
) -> Iterator[tuple[str, str, Any, Any]]:
    """What, pointer, before and after of all that differs in two objects; lists are told whole."""
    for key in [*before, *(key for key in after if key not in before)]:
        was, becomes, place = before.get(key, ABSENT), after.get(key, ABSENT), f"{at}{canonical.join([key])}"
        if deep and isinstance(was, dict) and isinstance(becomes, dict):
            yield from _inside(was, becomes, place)
        elif was is ABSENT or becomes is ABSENT:
            yield "added" if was is ABSENT else "removed", place, was, becomes
        elif not _same(was, becomes):
            yield "changed", place, was, becomes


def _same(one: Any, other: Any) -> bool:
    return canonical.encode(one) == canonical.encode(other)
