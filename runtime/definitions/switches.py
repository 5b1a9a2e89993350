"""Switches: a tool that somebody switched off is neither judged nor sent until it is switched on again.

What is off is read from the ledger alone: there is no row that somebody could change past Placet. It is a name that is
switched, so a new version of a tool that is off is off as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from approvals import gate, rows
from approvals.ledger import about, entries, followed, keys
from runtime.definitions.toolbox import tool_named

_OFF: Final = "tool.switched_off"
_ON: Final = "tool.switched_on"


@dataclass(frozen=True)
class Off:
    """Since when a tool is off, and the public id of whoever switched it, or ``system``."""

    by: str
    at: datetime


def _after(before: dict[str, Off], told: Iterable[dict[str, Any]]) -> dict[str, Off]:
    off = dict(before)
    for entry in told:
        if entry["kind"] == _OFF:
            off.setdefault(entry["name"], Off(entry["by"], datetime.fromisoformat(entry["at"])))
        else:
            off.pop(entry["name"], None)
    return off


_TOLD: Final = followed.Followed[dict[str, Off]]([_OFF, _ON], {}, _after)


# Questions


def off(workspace_id: UUID) -> Mapping[str, Off]:
    """The tools that are off, by name. Raises ledger.about.Broken, UnknownKey."""
    return _TOLD.of(workspace_id)


def why_off(workspace_id: UUID, name: str) -> str:
    """Why a tool of this name is not used now, as a sentence; nothing where it may be. A ledger that proves nothing
    does not prove that it is on."""
    try:
        return f"The tool {name} is switched off." if name in off(workspace_id) else ""
    except (about.Broken, keys.UnknownKey) as fault:
        return f"Nobody can tell whether the tool {name} is switched off. {fault}"


# Verbs


def switch_off(workspace: Any, name: str, *, by: Any) -> gate.Refused | None:
    """Switch a tool off at once: what is proposed, and what was approved and is not sent yet, is refused. For those who
    administer the workspace; ``by`` None is an operator at the command line."""
    with rows.within(workspace):
        # Also while the ledger proves nothing: to stop is never the wrong way.
        if by is not None and not gate.may(by, "administer", workspace):
            return NOT_ALLOWED
        return _switch(workspace, name, _OFF, by)


def switch_on(workspace: Any, name: str, *, by: Any) -> gate.Refused | None:
    """Let a tool be used again, for those who administer the workspace. Raises ledger.about.Broken."""
    with rows.within(workspace):
        if by is not None and not gate.vouched_may(by, "administer", workspace):
            return NOT_ALLOWED
        return _switch(workspace, name, _ON, by)


NOT_ALLOWED: Final = gate.Refused("not_allowed", "Only those who administer the workspace may switch a tool.")


def _switch(workspace: Any, name: str, kind: str, by: Any) -> gate.Refused | None:
    rows.one_at_a_time(f"tool switches {workspace.pk.hex}")
    if tool_named(workspace.pk, name) is None:
        return gate.Refused("unknown_tool", f"There is no tool {name} here.")
    if (name in _now(workspace.pk)) == (kind == _OFF):
        word = "off" if kind == _OFF else "on"
        return gate.Refused("switched_already", f"The tool {name} is switched {word} already.")
    entries.append(workspace.pk, followed.CHAIN, kind, {"name": name}, by=by.public_id if by else "system")
    return None


def _now(workspace_id: UUID) -> dict[str, Off]:
    """What is off by the entries as they stand, proved or not."""
    return _after({}, entries.read(workspace_id, followed.CHAIN, only=[_OFF, _ON]))
