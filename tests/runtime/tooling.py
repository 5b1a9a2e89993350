"""Tools for the tests of the machine, one of each effect class, that count in a file what reaches the world.

Every use adds a line ``sent``; the keyed tool adds ``done`` only for a key it has not seen, as a careful payments
service would, and the others each time.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from runtime.tools import Refused, Use, tool

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "note": {"type": "string"}, "raise": {"type": "string"}},
    "required": ["n"],
}
EFFECTS: Final = ("pure", "keyed", "natural", "lookup", "unsafe")


def world() -> Path:
    """The file that stands for the world."""
    return Path(os.environ["PLACET_HOME"]) / "world.jsonl"


def happened(what: str) -> list[dict[str, Any]]:
    """What reached the world: ``sent`` or ``done``, in order."""
    lines = world().read_text("utf-8").splitlines() if world().exists() else []
    return [line for line in map(json.loads, lines) if line["what"] == what]


def _note(what: str, name: str, args: dict[str, Any], use: Use) -> None:
    line = {"what": what, "tool": name, "args": args, "key": use.key, "call": use.call_id, "attempt": use.attempt}
    with world().open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _use(name: str, effect: str, args: dict[str, Any], use: Use) -> Any:
    _note("sent", name, args, use)
    if args.get("raise") == "refused":
        raise Refused("Not this one.")
    if "raise" in args:
        raise RuntimeError(args["raise"])
    if effect != "keyed" or not any(line["key"] == use.key for line in happened("done")):
        _note("done", name, args, use)
    return {"n": args["n"], "twice": args["n"] * 2}


def _make(name: str, effect: str) -> None:
    def function(args: dict[str, Any], use: Use) -> Any:
        return _use(name, effect, args, use)

    function.__qualname__ = name
    tool(name, schema=SCHEMA, title=name.title(), effect=effect, summary="Count {/n}", timeout_seconds=10)(function)


for _effect in EFFECTS:
    for _manner in ("free", "asked", "pair"):
        _make(f"{_manner}.{_effect}", _effect)
