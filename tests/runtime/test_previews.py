"""What a call would change is asked of a tool that changes nothing, before people are asked and after each edit."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from approvals import gate, policies, previews, rows
from approvals.approvals import Approval
from approvals.decisions import Decided
from approvals.ledger.sealing import Erased, Tampered
from approvals.previews import Foreseen, Line
from approvals.votes import Refused
from runtime import definitions, evidence, invariants, promises, retention, tools
from runtime import previews as looking
from runtime.runs import Run
from runtime.tools import Use, tool
from tests.runtime.conftest import POLICY, Desk
from tests.tampering import Tamper

WORLD: dict[str, Any] = {}
SENT: list[dict[str, Any]] = []
ASKED: list[tuple[Any, ...]] = []
SHIP = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "pallets": {"type": "integer"}, "api_key": {"type": "string"}},
}
RULE = """  - id: ships
    match: {tool: previews.ship}
    verdict: require_approval
    approvals: [{team: finance}]
    deadline: 1h
"""


TWO = RULE.replace("[{team: finance}]", "[{team: finance, count: 2}]\n    editor_may_approve: true")


@tool("previews.look", schema=SHIP, effect="pure")
def look(args: dict[str, Any], use: Use) -> Any:
    WORLD.setdefault("keys", []).append(use.key)
    if "away" in WORLD:
        raise tools.Refused("The warehouse is closed.")
    if "says" in WORLD:
        return WORLD["says"]
    left = {"what": "Pallets left", "before": WORLD["left"], "after": WORLD["left"] - args["pallets"]}
    return {"changes": [left, {"what": "Goes to", "after": args["to"]}]}


@tool("previews.ship", schema=SHIP, effect="keyed", preview={"tool": "previews.look"})
def ship(args: dict[str, Any], use: Use) -> Any:
    SENT.append(args)
    return {}


@pytest.fixture
def yard(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk that ships pallets; what a worker is asked to look up, waits for `worked`."""
    WORLD.clear()
    SENT.clear()
    WORLD["left"] = 12
    for each in (look, ship):
        definitions.register_function(desk.cast.northwind.pk, each, by="system")
    policies.load(desk.cast.northwind, POLICY + RULE, by=desk.cast.omar.public_id, author=desk.cast.omar)
    ASKED.clear()
    monkeypatch.setattr(looking, "wanted", lambda *what: ASKED.append(what))
    return desk


def shipped(yard: Desk, **more: Any) -> Approval:
    args = {"to": "Halden", "pallets": 5, **more}
    run = yard.begin([{"tool": "previews.ship", "args": args, "reason": "Because."}])
    return Approval.objects.get(chain=run.public_id)


def last(approval: Approval) -> Foreseen:
    found = previews.of(approval)
    assert found is not None
    return found.foreseen()


def test_what_would_change_is_there_when_people_are_asked(yard: Desk) -> None:
    approval = shipped(yard)
    assert last(approval) == Foreseen("previews.look", (Line("Pallets left", "7", "12"), Line("Goes to", "Halden")))
    assert SENT == [] and list(previews.unexplained(approval.workspace_id)) == []


def test_an_edit_is_foreseen_anew(yard: Desk) -> None:
    """Under a key of its own, and never under the call's: a tool that knows a key would say what it said before."""
    policies.load(yard.cast.northwind, POLICY + TWO, by="system")
    approval = shipped(yard)
    call = yard.calls(run_of(approval))[0]
    answer = yard.say(call, yard.cast.dana, "edit", edited={"to": "Halden", "pallets": 3})
    assert isinstance(answer, Decided) and worked() == [True], answer
    assert last(approval).lines[0].after == "9" and approval.previews.count() == 2
    assert len(set(WORLD["keys"])) == 2 and call.key not in WORLD["keys"]


def worked() -> list[bool]:
    """What became of what a worker was asked to look up."""
    return [looking.make(*what) for what in ASKED]


def run_of(approval: Approval) -> Run:
    key = rows.parse_id(Run.PREFIX, approval.chain)
    assert key is not None
    return Run.objects.get(pk=key)


def test_a_tool_that_cannot_say_anything_keeps_nobody_from_deciding(yard: Desk) -> None:
    WORLD["away"] = True
    approval = shipped(yard)
    assert last(approval) == Foreseen("previews.look", problem="The tool refused the call.")
    assert isinstance(yard.say(yard.calls(run_of(approval))[0], yard.cast.dana, "approve"), Decided)
    yard.work(run_of(approval))
    assert SENT == [{"to": "Halden", "pallets": 5}]
    assert (invariants.offenders(), list(evidence.unproven(approval.workspace_id))) == ([], [])


@pytest.mark.parametrize(
    "says",
    [
        None,
        [],
        {"changes": []},
        {"changes": [{"what": "x"}]},
        {"changes": [{"what": "x", "after": {}}]},
        {"changes": [{"what": "x", "after": "y" * 201}]},
        {"changes": [{"what": "x", "after": 1, "color": "red"}]},
        {"changes": [{"what": "x", "after": 1}] * 21},
    ],
)
def test_what_is_no_preview_is_not_shown_as_one(says: Any) -> None:
    assert gate.read_preview("t", says) == Foreseen("t", problem=previews.UNFIT)


def test_what_is_settled_is_not_looked_up_any_more(yard: Desk) -> None:
    """A message may come late, or twice."""
    approval = shipped(yard)
    yard.say(yard.calls(run_of(approval))[0], yard.cast.dana, "reject", message="No.")
    assert not looking.make(approval.workspace_id, approval.public_id) and approval.previews.count() == 1


def test_a_tool_that_may_change_something_is_not_asked(yard: Desk) -> None:
    """The one door to a preview sends nothing: whatever the definition names has to be pure."""
    known = tools.described(ship)
    ours = {**known.definition["placet"], "preview": {"tool": "previews.ship"}, "effect": "keyed"}
    how: dict[str, Any] = {"kind": "function", "config": {"function": known.path}, "effect": "keyed", "by": "system"}
    definitions.register_tool(yard.cast.northwind.pk, {**known.definition, "placet": ours}, **how)
    assert last(shipped(yard)).problem == "There is no tool previews.ship here that only reads." and SENT == []


@pytest.mark.parametrize("said", ["previews.look", {}, {"tool": 1}, {"tool": "x", "args": {}}])
def test_a_definition_that_names_no_tool_is_refused(said: Any) -> None:
    with pytest.raises(ValueError, match="preview is"):
        promises.admit({"preview": said}, "keyed")


def test_a_preview_that_was_written_past_placet_is_not_shown(yard: Desk, tamper: Tamper) -> None:
    """AU-4: neither changed nor made up; and the evidence names it."""
    approval = shipped(yard)
    tamper("UPDATE approvals_preview SET made_at = made_at + interval '1 hour'")
    with pytest.raises(Tampered):
        last(approval)
    assert len(list(previews.unexplained(approval.workspace_id))) == 1


def test_erasing_a_run_erases_what_was_foreseen_in_it(yard: Desk) -> None:
    approval = shipped(yard)
    yard.say(yard.calls(run_of(approval))[0], yard.cast.dana, "approve")
    run = yard.work(run_of(approval))
    retention.erase(run, by=yard.cast.omar.public_id)
    with pytest.raises(Erased):
        last(approval)


def test_people_can_look_again_but_not_all_the_time(yard: Desk) -> None:
    approval = shipped(yard)
    with rows.within(yard.cast.northwind):
        early = previews.look_again(approval, now=rows.now())
        assert isinstance(early, Refused) and early.code == "too_soon"
    WORLD["left"] = 6
    with rows.within(yard.cast.northwind):
        assert previews.look_again(approval, now=rows.now() + previews.AGAIN) is None
    assert worked() == [True] and last(approval).lines[0].after == "1"


def test_the_page_shows_it_with_its_time_and_covers_secrets(yard: Desk, page_of: Any) -> None:
    """A tool may repeat what it was given: a secret is covered here too."""
    html = page_of(yard.cast.dana, shipped(yard, to="via-hunter2-road", api_key="hunter2"))
    assert "What would change" in html and "nothing was sent for it" in html and "Pallets left" in html
    assert "hunter2" not in html[html.index('id="preview"') : html.index('id="history"')]


def test_the_page_says_when_the_last_look_was_at_another_revision(yard: Desk, page_of: Any) -> None:
    policies.load(yard.cast.northwind, POLICY + TWO, by="system")
    approval = shipped(yard)
    yard.say(yard.calls(run_of(approval))[0], yard.cast.dana, "edit", edited={"to": "Halden", "pallets": 3})
    html = page_of(yard.cast.priya, approval)
    assert "It was looked up for revision 1." in html and "Pallets left" not in html


@pytest.fixture
def page_of() -> Any:
    def read(person: Any, approval: Approval) -> str:
        client = Client()
        client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
        return str(client.get(f"/w/northwind/approvals/{approval.public_id}").content.decode())

    return read
