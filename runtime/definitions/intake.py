"""Intake: a list of published tools, ``{"tools": […]}`` or the answer to ``tools/list``, read, compared with what the
workspace has, and taken in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from approvals import gate
from approvals.ledger import canonical
from runtime.definitions import offers
from runtime.definitions.offers import Offer
from runtime.definitions.toolbox import Tool

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_NODES: Final = 2_000_000
MAX_TOOLS: Final = 1_000
SHOWN: Final = 200
"""So many characters of a value that changed are shown."""


class Unreadable(ValueError):
    """What was given holds no list of tools, or one of them is not admitted; the sentence names the place."""


@dataclass(frozen=True)
class Listed:
    """The tools of a document, admitted, and the pointer to their list in it."""

    place: str
    offers: list[Offer]

    @property
    def warnings(self) -> list[str]:
        """A line for each thing in a schema that is looser than it need be."""
        return [
            f"{each.definition['name']}: {self.place}/{index}{warning['pointer']}: {warning['text']}"
            for index, each in enumerate(self.offers)
            for warning in each.warnings
        ]


@dataclass(frozen=True)
class Changed:
    """One place in which two definitions differ, with what stood there and what stands there now, empty for
    nothing."""

    place: str
    before: str
    after: str


@dataclass(frozen=True)
class Coming:
    """What taking one tool in would do: ``what`` is new, changed or same."""

    offer: Offer
    what: str
    differences: list[Changed] = field(default_factory=list)
    moved: str = ""
    asks: bool = False
    """Whether people have to approve it first."""

    @property
    def name(self) -> str:
        return str(self.offer.definition["name"])


@dataclass(frozen=True)
class Asked:
    """A tool that has to be approved first: the approval that asks people, or why nobody is asked."""

    change: str
    approval: str
    reason: str


# Questions


def read(document: bytes, *, url: str = "", effect: str = "unsafe") -> Listed:
    """The tools of a document, all reached below the same address, all of the same promise. Raises Unreadable."""
    try:
        parsed = canonical.parse(document, max_bytes=MAX_BYTES, max_nodes=MAX_NODES)
    except canonical.Unrepresentable as fault:
        raise Unreadable(str(fault)) from fault
    place = "/result/tools" if isinstance(parsed, dict) and "jsonrpc" in parsed else "/tools"
    listed = _at(parsed, place)
    found = [_offer(tool, f"{place}/{index}", url, effect) for index, tool in enumerate(listed)]
    _refuse_doubles(found, place)
    return Listed(place, found)


def _at(parsed: Any, place: str) -> list[Any]:
    found: Any = parsed
    for part in canonical.split(place):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise Unreadable(f'{place}: there is no list of tools here, neither {{"tools": […]}} nor an answer.')
    if len(found) > MAX_TOOLS:
        raise Unreadable(f"{place}: {len(found):,} tools are more than the {MAX_TOOLS:,} that one list may hold.")
    return found


def _offer(tool: Any, place: str, url: str, effect: str) -> Offer:
    name = tool.get("name") if isinstance(tool, dict) else None
    try:
        if not isinstance(name, str):
            raise gate.Inadmissible("/name", "name", "A tool is an object with a name.")
        config = {"url": f"{url.rstrip('/')}/{quote(name, safe='')}"} if url else {}
        return offers.offer(tool, kind="http", config=config, effect=effect)
    except gate.Inadmissible as fault:
        raise Unreadable(f"{place}{fault.pointer} ({fault.rule}): {fault.message}") from fault
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _refuse_doubles(found: Sequence[Offer], place: str) -> None:
    seen: set[str] = set()
    for index, each in enumerate(found):
        name = each.definition["name"]
        if name in seen:
            raise Unreadable(f"{place}/{index}/name (unique): {name} stands in the list twice.")
        seen.add(name)


def compare(workspace_id: UUID, listed: Listed) -> list[Coming]:
    """What taking these tools in would change, in the order of the list."""
    names = [each.definition["name"] for each in listed.offers]
    known = Tool.objects.filter(workspace_id=workspace_id, name__in=names, is_active=True)
    have = {tool.name: tool for tool in known}
    return [_coming(workspace_id, each, have.get(each.definition["name"])) for each in listed.offers]


def _coming(workspace_id: UUID, offered: Offer, tool: Tool | None) -> Coming:
    digest = canonical.sha256_hex(canonical.encode(offered.definition))
    if tool is not None and tool.digest == digest:
        return Coming(offered, "same")
    asks = gate.changing(workspace_id, "tool", offers.described(offered)) is not None
    if tool is None:
        return Coming(offered, "new", asks=asks)
    moved = _moved(tool, offered)
    return Coming(offered, "changed", differences(tool.document, offered.definition), moved, asks)


def _moved(tool: Tool, offered: Offer) -> str:
    if tool.config == offered.config:
        return ""
    return f"it takes the place of the tool of this name that was reached by {tool.config or 'nothing'}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Changed]:
    """In what two definitions of a tool differ."""
    return [
        Changed(
            each.word,
            "" if each.what == "added" else _shown(each.before),
            "" if each.what == "removed" else _shown(each.after),
        )
        for each in gate.differences(before, after)
    ]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) and value else canonical.encode(value).decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… (+{len(text) - SHOWN} characters)"


# Verbs


def take(workspace: Any, listed: Listed, *, by: Any, reason: str = "") -> tuple[int, list[Asked]]:
    """Take in those of which nobody has to be asked, and ask about each of the others. How many were taken in, and what
    became of the others."""
    taken, asked = 0, list[Asked]()
    for each in listed.offers:
        try:
            offers.register_offers(workspace.pk, [each], by=by.public_id)
            taken += 1
        except gate.NeedsApproval:
            change = offers.of_tool(workspace.pk, each)
            held = gate.propose(workspace, change, by=by, reason=reason)
            asked.append(Asked(change.name, held.approval_id or "", held.reason))
    return taken, asked
