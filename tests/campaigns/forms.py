"""`bin/prove forms`: every recorded tool has a form that comes back as it was drawn; every edit is made by hand.

Each form is drawn on the server with something in every field, and read back as a browser sends it. Each recorded edit
is made in a real browser, by typing, choosing and pressing alone, and what arrives at the tool is exactly what was
wanted. Both go over the case folder that `bin/prove tools` goes over.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any, Final

from playwright.sync_api import Error, Page

from approvals.edits import Tool, read
from approvals.ledger import canonical
from tests import cases
from tests.approvals.edits.samples import TEXTS, sample
from tests.approvals.edits.tools import form_of
from tests.campaigns import furniture
from tests.campaigns.hands import Hands, Way, browser_of
from tests.campaigns.recorded import admit, approved, hold_everything
from tests.campaigns.stage import DANA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors
from tests.editing import NotOffered

FIGURES: Final = ("tools", "rendered", "calls", "exact")


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Go over a case folder; ok when every form came back unchanged and every edit arrived exactly."""
    place = cases.folder(options.cases)
    told: Counter[str] = Counter(dict.fromkeys(FIGURES, 0))
    if place is None:
        tell("There is no case folder: name one with --cases or PLACET_CASES.")
        return False, dict(told)
    stage.start()
    hold_everything(stage)
    known: dict[tuple[str, str], Tool] = {}
    for server, tools in cases.servers(place):
        admit(stage, place, server)
        known |= {(server, tool["name"]): Tool(tool["inputSchema"]) for tool in tools}
        told.update(_drawn(server, tools))
    person = visitors(stage.stack.url, stage.home, WORKSPACE, DANA)[0]
    with browser_of(person) as page:
        for call in (call for call in cases.calls(place) if call["edit"] is not None):
            told["calls"] += 1
            told["exact"] += _is_exact(stage, person, page, known[call["server"], call["tool"]], call)
    return told["rendered"] == told["tools"] and told["exact"] == told["calls"] > 0, dict(told)


def _drawn(server: str, tools: list[dict[str, Any]]) -> Counter[str]:
    """How many of a server's tools there are, and of how many the form came back as it was drawn."""
    told = Counter(tools=len(tools))
    for number, tool in enumerate(tools):
        comes_back = _comes_back(Tool(tool["inputSchema"]), number % len(TEXTS))
        told["rendered"] += comes_back
        if not comes_back:
            tell(f"  {server}/{tool['name']}: its form does not come back as it was drawn")
    tell(f"{server}: {told['rendered']} of {len(tools)} forms come back as they were drawn")
    return told


def _comes_back(tool: Tool, turn: int) -> bool:
    value = canonical.parse(canonical.encode(sample(tool.schema, tool.schema, 3, turn)))
    edited = read(form_of(tool, value).posted(), tool, value)
    return canonical.encode(edited.value) == canonical.encode(value)


def _is_exact(stage: Stage, person: Visitor, page: Page, tool: Tool, call: dict[str, Any]) -> bool:
    """Whether one edit, made by hand, is what was approved and what arrived; if not, why not is told."""
    before, after = (canonical.parse(canonical.encode(call[name])) for name in ("arguments", "edit"))
    path = f"/{call['server']}/{call['tool']}"
    already = len(stage.recorder.of(path))
    try:
        way = Way(tool, before, after)
        approval = furniture.held(furniture.play((call["tool"], before)).public_id, seconds=180)
        page.goto(f"{person.path(approval)}/edit")
        Hands(page).go(way)
    except (NotOffered, Error, TimeoutError) as problem:
        tell(f"  {call['tool']}: cannot be edited by hand: {str(problem)[:300]}")
        return False
    if page.url.endswith("/edit"):
        tell(f"  {call['tool']}: not saved: {page.locator('.error, [role=alert]').all_inner_texts()}")
        return False
    arrived = [arrival.body for arrival in stage.recorder.wait_for(path, already + 1)[already:]]
    exact = arrived == [canonical.encode(after)] == [approved(approval)]
    tell(f"  {call['tool']}: {len(way.acts)} presses, {'exact' if exact else 'NOT EXACT'}")
    return exact
