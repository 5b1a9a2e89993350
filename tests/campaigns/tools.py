"""`bin/prove tools`: every recorded call is held, shown whole, edited through the page's own form, sent as approved.

A recording endpoint stands behind the tools, and policy holds every one of them. For each call: the review page shows
every argument in full; the invalid edit is refused at its field and changes nothing; the edit is made as a person would
make it, with the controls and buttons of the form, and the bytes that arrive are the bytes that were approved.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any, Final

from approvals.edits import Tool, secrets
from approvals.ledger import canonical
from tests import cases
from tests.campaigns import furniture
from tests.campaigns.editors import EditPage
from tests.campaigns.reading import missing
from tests.campaigns.recorded import admit, approved, found, hold_everything
from tests.campaigns.stage import DANA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

FIGURES: Final = ("admitted", "calls", "shown", "exact", "edits", "invalid_edits", "refused_edits_at_field")


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Go over a case folder, server by server; ok when every tool is admitted and nothing is amiss with any call."""
    place = cases.folder(options.cases)
    told: Counter[str] = Counter(dict.fromkeys(FIGURES, 0))
    if place is None:
        tell("There is no case folder: name one with --cases or PLACET_CASES.")
        return False, dict(told)
    stage.start()
    hold_everything(stage)
    person = visitors(stage.stack.url, stage.home, WORKSPACE, DANA)[0]
    calls = cases.calls(place)
    offered = 0
    for server, tools in cases.servers(place):
        told["admitted"] += admit(stage, place, server)
        offered += len(tools)
        known = {tool["name"]: Tool(tool["inputSchema"]) for tool in tools}
        for call in (call for call in calls if call["server"] == server):
            told.update(_one(stage, person, known[call["tool"]], call))
    faults = stage.verify_ledger()
    for line in faults:
        tell(line)
    return _is_whole(told, offered, len(calls)) and not faults, dict(told)


def _is_whole(told: Counter[str], offered: int, calls: int) -> bool:
    each = told["calls"] == told["shown"] == told["exact"] == calls > 0
    return each and told["admitted"] == offered and told["invalid_edits"] == told["refused_edits_at_field"]


def _one(stage: Stage, person: Visitor, tool: Tool, call: dict[str, Any]) -> Counter[str]:
    """One call from its proposal to its arrival; what went well with it."""
    args = canonical.parse(canonical.encode(call["arguments"]))
    told = Counter(calls=1)
    approval = furniture.held(furniture.play((call["tool"], args)).public_id)
    page = person.client.get(person.path(approval)).text
    absent = missing(page, args, secrets(args, tool))
    told["shown"] += not absent
    if call["invalid_edit"] is not None:
        told["invalid_edits"] += 1
        told["refused_edits_at_field"] += _refused(person, approval, args, call)
    after = args if call["edit"] is None else canonical.parse(canonical.encode(call["edit"]))
    path = f"/{call['server']}/{call['tool']}"
    already = len(stage.recorder.of(path))
    _decide(person, approval, args, after, call)
    told["edits"] += call["edit"] is not None
    arrived = [arrival.body for arrival in stage.recorder.wait_for(path, already + 1)[already:]]
    exact = arrived == [canonical.encode(after)] == [approved(approval)]
    told["exact"] += exact
    tell(f"  {call['tool']}: {'exact' if exact else 'NOT EXACT'}{f', not shown: {absent}' if absent else ''}")
    return told


def _refused(person: Visitor, approval: str, args: Any, call: dict[str, Any]) -> bool:
    """Whether the invalid edit was refused at its field, with nothing changed."""
    before = _state(approval)
    page = EditPage(person, approval)
    places = page.attempt(args, call["invalid_edit"])
    if call["invalid_at"] in places and _state(approval) == before:
        return True
    tell(f"  {call['tool']}: the invalid edit was answered with {places}, not at {call['invalid_at']}")
    return False


def _decide(person: Visitor, approval: str, args: Any, after: Any, call: dict[str, Any]) -> None:
    if call["edit"] is None:
        assert person.approve(approval), f"{call['tool']} cannot be approved."
    else:
        EditPage(person, approval).save(args, after)


def _state(public_id: str) -> tuple[Any, ...]:
    """Everything about an approval that a refused edit must leave as it was."""
    approval = found(public_id)
    return approval.status, approval.revision, approval.revisions.count(), approval.decisions.count()
