"""What a browser sent back: names of a letter and a JSON pointer, and the button that was pressed.

``f:`` the text of a field · ``s:`` its state (the number of an alternative, ``raw``, ``absent``, ``new``) · ``d:`` the
state it was drawn in · ``i:`` the entries of a list, each by its index in the revision being edited, or ``+`` ·
``k:`` the name of a member to be added · ``t:`` that a secret is to be replaced · ``do`` the button.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from approvals.edits import marks
from approvals.edits.places import below, is_index, within
from approvals.ledger import canonical

LETTERS = "fsdikt"
ENVELOPE = frozenset({"csrfmiddlewaretoken", "do", "revision", "digest", "message", "mode", "text", "opened", "sure"})
"""Names that belong to the page around the form; any other name that the form does not know is refused."""
NEW, ABSENT_STATE, RAW = "new", "absent", "raw"

Names = dict[str, list[str]]


def wire(pointer: str) -> str:
    """A pointer as part of a control's name: browsers change the line ends of names as they do those of texts."""
    return pointer.replace("\r", "~r").replace("\n", "~n")


def unwired(sent: Mapping[str, list[str]]) -> Names:
    """What was sent, with the pointers in its names and in its button as they are."""
    names = {_unwired(name): list(texts) for name, texts in sent.items()}
    return {**names, "do": [_unwired(text) for text in names["do"]]} if "do" in names else names


def _unwired(text: str) -> str:
    return text.replace("~r", "\r").replace("~n", "\n")


class Posted:
    """The names and texts that were sent, with a note of which of them the form has asked for."""

    def __init__(self, sent: Mapping[str, list[str]]) -> None:
        self.sent: Names = {name: list(texts) for name, texts in sent.items()}
        self.known = set(ENVELOPE)
        self.parts = _parts(self.sent)
        self.touched = {below(holder, part) for holder, parts in self.parts.items() for part in parts}

    def take(self, letter: str, pointer: str) -> str | None:
        """The text sent under this name, or None. Line ends are as the browser shows them: a line feed each."""
        name = f"{letter}:{pointer}"
        self.known.add(name)
        texts = self.sent.get(name)
        return texts[-1].replace("\r\n", "\n").replace("\r", "\n") if texts else None

    def entries(self, pointer: str) -> list[str] | None:
        """The entries of a list in their order; None if the list was not in the form."""
        self.known.add(f"i:{pointer}")
        if f"s:{pointer}" not in self.sent:
            return None
        return self.sent.get(f"i:{pointer}", [])

    def members(self, pointer: str) -> list[str]:
        """The names under a pointer for which anything was sent, in the order sent."""
        return list(self.parts.get(pointer, ()))

    def spend(self, pointer: str) -> None:
        """Let everything that was sent for this place and below it pass: it belongs to a state that was left."""
        if pointer in self.touched:
            self.known.update(name for name in self.sent if name[1:2] == ":" and within(name[2:], (pointer,)))

    def unknown(self) -> list[str]:
        """The names that the form did not ask for."""
        return [name for name in self.sent if name not in self.known]

    def doubled(self) -> list[str]:
        """The names that may be sent once and were sent several times."""
        return [name for name, texts in self.sent.items() if len(texts) > 1 and not name.startswith("i:")]


def act(sent: Mapping[str, list[str]], do: str) -> Names:
    """What would have been sent had the button's change already been in the form. An unknown button changes nothing."""
    names: Names = {name: list(texts) for name, texts in sent.items()}
    verb, _, pointer = do.partition(":")
    if verb in _VERBS:
        _VERBS[verb](names, pointer)
    return names


def target(names: Mapping[str, list[str]], do: str) -> str | None:
    """The pointer of what the button brought into the form, or None. ``names`` are what `act` made of what was sent."""
    verb, _, pointer = do.partition(":")
    if verb == "append":
        return below(pointer, max(len(names.get(f"i:{pointer}", [])) - 1, 0))
    if verb == "insert":
        return next(
            (name[2:] for name in reversed(list(names)) if name[:2] == "s:" and name[2:].startswith(pointer + "/")),
            None,
        )
    return {"add": pointer, "replace": pointer, "as": pointer.partition(":")[2], "reset": pointer}.get(verb)


def fault_of(sent: Mapping[str, list[str]], do: str) -> tuple[str, str] | None:
    """The pointer and the sentence that refuse the name of a new member, or None."""
    verb, _, pointer = do.partition(":")
    if verb != "insert":
        return None
    name = _new_name(dict(sent), pointer)
    if not name:
        return pointer, "Give the new entry a name."
    if marks.count(name):
        return pointer, f"The name {marks.escaped(name)} has an invisible character in it."
    taken = below(pointer, name)
    drawn = [texts[-1] for sort, texts in sent.items() if sort == f"s:{taken}"]
    return (pointer, f"There is an entry {name} already.") if drawn and drawn != [ABSENT_STATE] else None


def _parts(names: Names) -> dict[str, dict[str, None]]:
    """For every pointer that was sent and each pointer above it, the parts right below."""
    parts: dict[str, dict[str, None]] = {}
    for name in names:
        if name[:1] not in LETTERS or name[1:2] != ":":
            continue
        try:
            path = canonical.split(name[2:])
        except ValueError:
            continue
        if len(path) > canonical.MAX_DEPTH:
            continue  # no argument lies so deep: the name stays unknown, and is refused as such
        for depth, part in enumerate(path):
            parts.setdefault(canonical.join(path[:depth]), {})[part] = None
    return parts


def _drop(names: Names, pointer: str) -> None:
    for name in [name for name in names if name[1:2] == ":" and within(name[2:], (pointer,))]:
        del names[name]


def _add(names: Names, pointer: str) -> None:
    _drop(names, pointer)
    names[f"s:{pointer}"] = [NEW]


def _append(names: Names, pointer: str) -> None:
    names.setdefault(f"i:{pointer}", []).append("+")


def _insert(names: Names, pointer: str) -> None:
    name = _new_name(names, pointer)
    if fault_of(names, f"insert:{pointer}") is None:
        _add(names, below(pointer, name))
        names.pop(f"k:{pointer}", None)


def _remove(names: Names, pointer: str) -> None:
    """Take out an entry, moving the later ones up; or mark a member as absent."""
    holder, _, part = pointer.rpartition("/")
    _drop(names, pointer)
    entries = names.get(f"i:{holder}")
    if entries is None or not is_index(part) or int(part) >= len(entries):
        names[f"s:{pointer}"] = [ABSENT_STATE]
        return
    for index in range(int(part) + 1, len(entries)):
        _rename(names, f"{holder}/{index}", f"{holder}/{index - 1}")
    del entries[int(part)]


def _rename(names: Names, old: str, new: str) -> None:
    for name in [name for name in names if name[1:2] == ":" and within(name[2:], (old,))]:
        names[f"{name[:2]}{new}{name[2 + len(old) :]}"] = names.pop(name)


def _choose(names: Names, rest: str) -> None:
    state, _, pointer = rest.partition(":")
    names[f"s:{pointer}"] = [state]


def _replace(names: Names, pointer: str) -> None:
    names[f"t:{pointer}"] = ["1"]


def _clean(names: Names, pointer: str) -> None:
    names[f"f:{pointer}"] = [marks.take_out(text.replace("\r\n", "\n")) for text in names.get(f"f:{pointer}", [])]


def _new_name(names: Mapping[str, list[str]], pointer: str) -> str:
    return (names.get(f"k:{pointer}") or [""])[-1]


_VERBS: dict[str, Callable[[Names, str], None]] = {
    "add": _add,
    "append": _append,
    "insert": _insert,
    "remove": _remove,
    "reset": _drop,
    "as": _choose,
    "replace": _replace,
    "clean": _clean,
}
