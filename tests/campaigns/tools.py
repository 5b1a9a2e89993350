"""`bin/prove tools`: every recorded call is held, shown whole, edited through the page's own form, sent as approved.

A recording endpoint stands behind the tools, and policy holds every one of them. For each call: the review page shows
every argument in full; the invalid edit is refused at its field and changes nothing; the edit is made as a person would
make it, with the controls and buttons of the form, and the bytes that arrive are the bytes that were approved.
"""

from __future__ import annotations

import argparse
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any, Final

import yaml
from django.core.management import call_command

from approvals.approvals import Approval
from approvals.edits import Tool, secrets
from approvals.ledger import canonical
from approvals.revisions import args_of
from approvals.rows import within
from tests import cases
from tests.campaigns import furniture
from tests.campaigns.editors import EditPage
from tests.campaigns.reading import missing
from tests.campaigns.stage import DANA, OPERATOR, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

POLICY: Final[dict[str, Any]] = {
    "policy": 1,
    "rules": [
        {"id": "all", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}], "deadline": "2d"}
    ],
}
"""Every known tool waits for one person, who may edit."""
FIGURES: Final = ("admitted", "calls", "shown", "exact", "edits", "invalid_edits", "refused_edits_at_field")


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Go over a case folder, server by server; ok when every tool is admitted and nothing is amiss with any call."""
    place = cases.folder(options.cases)
    told: Counter[str] = Counter(dict.fromkeys(FIGURES, 0))
    if place is None:
        tell("There is no case folder: name one with --cases or PLACET_CASES.")
        return False, dict(told)
    stage.start()
    _hold_everything(stage)
    person = visitors(stage.stack.url, stage.home, WORKSPACE, DANA)[0]
    calls = cases.calls(place)
    offered = 0
    for server, tools in cases.servers(place):
        told["admitted"] += _admit(stage, place, server)
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


def _hold_everything(stage: Stage) -> None:
    file = stage.home / "holds-everything.yaml"
    file.write_text(yaml.safe_dump(POLICY), "utf-8")
    call_command("policy", "load", str(file), workspace=WORKSPACE, by=OPERATOR, stdout=StringIO())


def _admit(stage: Stage, place: Path, server: str) -> int:
    """Take a server's tools in; how many were."""
    file = next(file for file in place.glob("*.json") if file.stem == server or _names(file) == server)
    base = f"http://{stage.recorder.address}/{server}"
    out = StringIO()
    call_command("tools", "import", str(file), url=base, effect="keyed", workspace=WORKSPACE, stdout=out)
    said = out.getvalue()
    tell(f"{server}: {said.splitlines()[0] if said else 'nothing was taken in'}")
    return int(said.split()[0]) if said[:1].isdigit() else 0


def _names(file: Path) -> str:
    document = canonical.parse(file.read_bytes(), max_bytes=file.stat().st_size, max_nodes=10_000_000)
    return str(document.get("server", "")) if isinstance(document, dict) else ""


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
    exact = arrived == [canonical.encode(after)] == [_approved(approval)]
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


def _approved(public_id: str) -> bytes:
    """The bytes of the revision that people said yes to."""
    approval = _found(public_id)
    with within(approval.workspace_id):
        return bytes(args_of(approval.revisions.select_related("ruling").get(number=approval.revision)))


def _state(public_id: str) -> tuple[Any, ...]:
    """Everything about an approval that a refused edit must leave as it was."""
    approval = _found(public_id)
    return approval.status, approval.revision, approval.revisions.count(), approval.decisions.count()


def _found(public_id: str) -> Approval:
    approval = furniture.approval_named(public_id)
    assert approval is not None
    return approval
