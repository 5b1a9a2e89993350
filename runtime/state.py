"""A run's state: JSON that is never stored whole, but as the fold of what each step changed.

A change is data, an operation of four kinds: ``append`` items to a list, ``set`` a value, ``delete`` it, and ``ref``,
which sets a large value that is kept by itself (`runtime.blobs`). Each names its place with a JSON pointer. Folding
runs no code of the agent, so a later change of that code cannot alter the past.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from approvals.ledger import canonical

MAX_BYTES: Final = 4 * 1024 * 1024
"""The most that one step may write, in bytes of canonical JSON."""


class NotState(Exception):
    """Something that is no state was to be stored: the message names the path of the offender and what is wrong with
    it."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.pointer = pointer


def changes(
    update: Mapping[str, Any], append: Mapping[str, Sequence[Any]], remove: Iterable[str]
) -> list[dict[str, Any]]:
    """The operations that a step's changes amount to. Names are members of the state itself, not pointers. Raises
    NotState for a name that is no text, and for no list of items."""
    for name in (*update, *append, *remove):
        if not isinstance(name, str):
            raise NotState(f"/{name}", f"a name in the state must be text, not {type(name).__name__}")
    for name, items in append.items():
        if not isinstance(items, list | tuple):
            raise NotState(canonical.join([name]), f"items to append must be a list, not {type(items).__name__}")
    operations: list[dict[str, Any]] = [
        {"op": "set", "path": canonical.join([name]), "value": value} for name, value in update.items()
    ]
    operations += [
        {"op": "append", "path": canonical.join([name]), "items": list(items)}
        for name, items in append.items()
        if items
    ]
    return operations + [{"op": "delete", "path": canonical.join([name])} for name in remove]


def hold_to(state: Mapping[str, Any], operations: Iterable[Mapping[str, Any]]) -> None:
    """Whether a step's changes can be folded into the state before it: only a list is appended to. Raises NotState,
    before anything is committed."""
    told: dict[str, Any] = {}
    for each in operations:
        name = canonical.split(each["path"])[0]
        if each["op"] == "append" and not isinstance(told.get(name, state.get(name, [])), list):
            raise NotState(each["path"], "only a list can be appended to")
        told[name] = [] if each["op"] == "append" else each.get("value", [])


def encode(body: Mapping[str, Any]) -> bytes:
    """The canonical bytes of what a checkpoint holds. Raises NotState for anything but pure JSON, and for more than
    MAX_BYTES."""
    try:
        encoded = canonical.encode(body, max_depth=canonical.MAX_DEPTH + 8)
    except canonical.Unrepresentable as fault:
        raise NotState(_path_in_state(body, fault.pointer), fault.message) from fault
    if len(encoded) > MAX_BYTES:
        message = f"one step may write {MAX_BYTES:,} bytes, and this one has {len(encoded):,}"
        raise NotState(_heaviest(body), message)
    return encoded


def _path_in_state(body: Mapping[str, Any], pointer: str) -> str:
    """Where in the state an offender of the checkpoint's body would have stood: ``/ops/0/value/x`` becomes
    ``/answer/x``."""
    parts = canonical.split(pointer)
    if len(parts) < 3 or parts[0] != "ops":
        return pointer
    operation = body["ops"][int(parts[1])]
    return str(operation["path"]) + canonical.join(parts[3:])


def _heaviest(body: Mapping[str, Any]) -> str:
    """The place of the largest change."""
    sizes = {
        str(each["path"]): len(canonical.encode(each, max_depth=canonical.MAX_DEPTH + 8))
        for each in body.get("ops", [])
    }
    return max(sizes, key=lambda path: sizes[path], default="")


def decode(encoded: bytes) -> dict[str, Any]:
    """What `encode` wrote, once its authentication code has been found to hold."""
    body: dict[str, Any] = json.loads(encoded)
    return body


class Own(dict[str, Any]):
    """A state that its reader may change without changing the original: a member is copied when it is first looked at.

    So a step costs what it reads, and not the size of everything that the run has ever kept.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._foreign = set(state)

    def __getitem__(self, name: str) -> Any:
        if name in self._foreign:
            self._foreign.discard(name)
            super().__setitem__(name, _copied(super().__getitem__(name)))
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._foreign.discard(name)
        super().__setitem__(name, value)

    def __iter__(self) -> Iterator[str]:
        # With an iterator of its own even ``{**state}`` goes through __getitem__ above.
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - that would call this method itself

    def pop(self, name: str, *default: Any) -> Any:
        return (self[name], super().pop(name))[0] if name in self else super().pop(name, *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else super().setdefault(name, default)

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def copy(self) -> dict[str, Any]:
        return {name: self[name] for name in self}

    def values(self) -> Any:
        return self.copy().values()

    def items(self) -> Any:
        return self.copy().items()


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def fold(state: dict[str, Any], operations: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Apply operations to a state in place, and return it. Raises NotState where a place does not exist or cannot
    take them."""
    for operation in operations:
        _apply(state, operation)
    return state


def _apply(state: dict[str, Any], operation: Mapping[str, Any]) -> None:
    pointer = str(operation["path"])
    holder, name = _holder(state, pointer)
    match operation["op"]:
        case "set":
            holder[name] = operation["value"]
        case "append":
            target = holder.setdefault(name, [])
            if not isinstance(target, list):
                raise NotState(pointer, "only a list can be appended to")
            target.extend(operation["items"])
        case "delete":
            holder.pop(name, None)
        case unknown:
            raise NotState(pointer, f"{unknown} is no operation this release knows")


def after(state: Mapping[str, Any], operations: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What the operations make of a state, which itself stays as it is. Raises NotState."""
    return fold(_copied(dict(state)), operations)


def difference(before: Mapping[str, Any], after: Mapping[str, Any], at: str = "") -> list[dict[str, Any]]:
    """The operations that make the second of two objects out of the first; they reach no deeper than they must."""
    operations: list[dict[str, Any]] = []
    for name in [*before, *(name for name in after if name not in before)]:
        path = at + canonical.join([name])
        if name not in after:
            operations.append({"op": "delete", "path": path})
        elif isinstance(before.get(name), dict) and isinstance(after[name], dict):
            operations += difference(before[name], after[name], path)
        elif name not in before or canonical.encode(before[name]) != canonical.encode(after[name]):
            operations.append({"op": "set", "path": path, "value": after[name]})
    return operations


def _holder(state: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    parts = canonical.split(pointer)
    if not parts:
        raise NotState(pointer, "the state itself cannot be put in another's place")
    holder: Any = state
    for part in parts[:-1]:
        holder = holder.get(part) if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        raise NotState(pointer, "there is no object here to hold it")
    return holder, parts[-1]
