"""The commands: propose, run log, run cancel, run resume, tools import, tools list."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from runtime import timeline
from runtime.calls import Call, args_of
from runtime.definitions import Tool
from runtime.runs import Run
from tests.cast import Cast, assemble
from tests.runtime.conftest import Desk, call


def say(*words: str, **more: Any) -> str:
    """Run a command and return what it says."""
    out = StringIO()
    call_command(*words, stdout=out, stderr=out, **more)
    return out.getvalue().strip()


# propose


def arguments(folder: Path, text: str) -> str:
    file = folder / "args.json"
    file.write_text(text, "utf-8")
    return str(file)


def test_propose_starts_a_run_with_one_call(desk: Desk, tmp_path: Path) -> None:
    file = arguments(tmp_path, '{"n": 7}')
    printed = say("propose", "asked.keyed", file, "--workspace", "northwind", "--as", "riley@northwind.example")
    run = desk.work(Run.objects.get())
    assert printed == run.public_id and run.status == "suspended_approval" and run.requester == desk.cast.riley
    assert args_of(Call.objects.get()) == b'{"n":7}'


def test_propose_starts_a_rehearsal(desk: Desk, tmp_path: Path) -> None:
    say("propose", "asked.keyed", arguments(tmp_path, '{"n": 7}'), "--rehearsal", workspace="northwind")
    assert Run.objects.get().rehearsal


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"n": 1, "n": 2}', "n"),
        ('{"n": NaN}', "NaN"),
        ("[1]", "JSON object"),
        ("", "args.json"),
    ],
)
def test_propose_reads_strictly(desk: Desk, tmp_path: Path, text: str, word: str) -> None:
    """IN-E1, IN-E5, IN-E54."""
    with pytest.raises(CommandError, match=word):
        say("propose", "asked.keyed", arguments(tmp_path, text), workspace="northwind")
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["--workspace", "nowhere"], "no workspace nowhere"),
        ([], "--workspace SLUG"),
        (["--workspace", "northwind", "--as", "nobody@northwind.example"], "nobody@"),
        (["--workspace", "northwind", "--as", "oskar@halden.example"], "no member of northwind"),
    ],
)
def test_propose_says_what_is_wrong(desk: Desk, tmp_path: Path, words: list[str], word: str) -> None:
    with pytest.raises(CommandError, match=word):
        say("propose", "asked.keyed", arguments(tmp_path, '{"n": 7}'), *words)


# run


@pytest.fixture
def decided(desk: Desk) -> Run:
    """A run with an approved and a rejected call, completed."""
    run = desk.begin([call("asked.keyed", 7), call("asked.unsafe", 8)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    desk.say(desk.calls(run)[1], desk.cast.priya, "reject", message="No.")
    return desk.work(run)


def test_run_log_tells_the_story_in_order(desk: Desk, decided: Run) -> None:
    told = say("run", "log", decided.public_id)
    order = ["run.started", "approval.opened", "decision.made", "call.intended", "attempt.executed", "step.committed"]
    places = [told.rindex(word) if word == "step.committed" else told.index(word) for word in order]
    assert places == sorted(places)
    assert "nothing happened twice" in told and desk.calls(decided)[0].key in told
    assert f"by {desk.cast.dana.public_id}" in told


def test_run_log_as_json_can_be_counted(desk: Desk, decided: Run) -> None:
    told = json.loads(say("run", "log", decided.public_id, "--json"))
    assert (told["status"], told["doubts"]) == ("completed", [])
    assert [each["outcomes"] for each in told["calls"]] == [["executed"], []]
    assert [each["status"] for each in told["calls"]] == ["executed", "refused"]
    moments = [moment["at"] for moment in told["moments"]]
    assert moments == sorted(moments)


def test_run_log_holds_nothing_that_people_or_agents_wrote(decided: Run) -> None:
    told = say("run", "log", decided.public_id, "--json")
    assert "Because" not in told and "No." not in told and "Ticket" not in told


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"status": "held"}, "sent, though it is held"),
        ({"status": "executed"}, ""),
    ],
)
def test_run_log_says_what_speaks_against_it(decided: Run, change: dict[str, str], word: str) -> None:
    Call.objects.filter(tool_name="asked.keyed").update(**change)
    found = timeline.doubts(decided)
    assert (word in found[0]) if word else found == []


def test_an_operator_cancels_and_retries(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 7)])
    assert "being cancelled" in say("run", "cancel", run.public_id, "--as", "omar@northwind.example")
    assert desk.work(run).status == "cancelled"
    with pytest.raises(CommandError, match="has ended already"):
        say("run", "cancel", run.public_id)
    with pytest.raises(CommandError, match="neither failed nor been parked"):
        say("run", "resume", run.public_id)
    Run.objects.filter(pk=run.pk).update(status="parked", cancel_by="")
    assert "goes on" in say("run", "resume", run.public_id)


def test_only_those_who_may_operate_the_agent_do_so(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 7)])
    for email, told in (("riley@northwind.example", "may not operate"), ("oskar@halden.example", "There is no run")):
        with pytest.raises(CommandError, match=told):
            say("run", "cancel", run.public_id, "--as", email)
    assert Run.objects.get().status == "suspended_approval"


@pytest.mark.parametrize("name", ["run_1", "apr_" + "0" * 32, "run_" + "0" * 32])
def test_a_run_that_does_not_exist_is_said_to(desk: Desk, name: str) -> None:
    with pytest.raises(CommandError, match="no run"):
        say("run", "log", name)


# tools


@pytest.fixture
def cast(db: None) -> Cast:
    return assemble()


SELL = {"name": "sell", "title": "Sell", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
BUY = {"name": "buy things/now", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def take_in(folder: Path, document: Any, *words: str) -> str:
    file = folder / "tools.json"
    file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return say("tools", "import", str(file), "--workspace", "northwind", *words)


@pytest.mark.parametrize(
    "document",
    [
        {"server": "shop", "version": "1.0", "tools": [SELL, BUY]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [SELL, BUY]}},
    ],
)
def test_tools_are_taken_in_from_both_forms(cast: Cast, tmp_path: Path, document: Any) -> None:
    told = take_in(tmp_path, document, "--url", "https://shop.example/tools/")
    assert "2 tools were taken in" in told
    found = {tool.name: (tool.kind, tool.effect, tool.config["url"]) for tool in Tool.objects.all()}
    assert found == {
        "sell": ("http", "unsafe", "https://shop.example/tools/sell"),
        "buy things/now": ("http", "unsafe", "https://shop.example/tools/buy%20things%2Fnow"),
    }


def test_warnings_are_printed_with_their_place(cast: Cast, tmp_path: Path) -> None:
    told = take_in(tmp_path, {"tools": [SELL, {**BUY, "icons": []}]})
    assert "buy things/now: /tools/1/icons: " in told and "Nothing stands behind them yet" in told


def test_a_tool_that_takes_anothers_place_is_named(cast: Cast, tmp_path: Path) -> None:
    """DU-L28: two servers may have a tool of one name; what is allowed for one is not the other's in silence."""
    take_in(tmp_path, {"tools": [SELL, BUY]}, "--url", "https://one.example")
    told = take_in(tmp_path, {"tools": [SELL]}, "--url", "https://two.example")
    assert "sell: it takes the place" in told and "https://one.example/sell" in told
    assert "takes the place" not in take_in(tmp_path, {"tools": [SELL]}, "--url", "https://two.example")


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"tools": [SELL, {**BUY, "inputSchema": {"type": "string"}}]}, "/tools/1/inputSchema/type"),
        ({"tools": [SELL, {"inputSchema": {"type": "object"}}]}, "/tools/1/name"),
        ({"tools": [SELL, "buy"]}, "/tools/1/name"),
        ({"tools": [SELL, SELL]}, "twice"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}, "/result/tools"),
        ({"result": {"tools": [SELL]}}, "no list of tools"),
        ([SELL], "no list of tools"),
        ({"tools": [{**SELL, "name": f"t{n}"} for n in range(1001)]}, "1,001 tools"),
        (b'{"tools": [], "tools": []}', "tools"),  # IN-E5
        (b'{"tools": NaN}', "NaN"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_file_with_a_fault_is_refused_whole(cast: Cast, tmp_path: Path, document: Any, word: str) -> None:
    with pytest.raises(CommandError) as refusal:
        take_in(tmp_path, document)
    assert word in str(refusal.value) and not Tool.objects.exists()


def test_a_file_that_is_too_large_or_missing_is_refused(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        take_in(tmp_path, b'{"tools": ["' + b"x" * (8 * 1024 * 1024) + b'"]}')
    with pytest.raises(CommandError, match="cannot be read"):
        say("tools", "import", str(tmp_path / "nothing.json"), "--workspace", "northwind")


def test_an_effect_and_an_endpoint_are_checked(cast: Cast, tmp_path: Path) -> None:
    take_in(tmp_path, {"tools": [SELL]}, "--effect", "keyed")
    assert Tool.objects.get().effect == "keyed"
    with pytest.raises(CommandError, match="https"):
        take_in(tmp_path, {"tools": [BUY]}, "--url", "http://shop.example")


def test_tools_are_listed(cast: Cast, tmp_path: Path) -> None:
    take_in(tmp_path, {"tools": [SELL, BUY]})
    lines = say("tools", "list", "--workspace", "northwind").splitlines()
    assert [line.split("  ")[0] for line in lines] == ["buy things/now", "sell"] and "version 1" in lines[0]
