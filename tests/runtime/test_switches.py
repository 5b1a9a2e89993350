"""Switches: a tool that is off is neither judged nor sent, whatever was approved before."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import people, rows
from approvals.ledger import entries, followed
from approvals.people import Person
from runtime import definitions
from runtime.definitions import Tool, toolbox
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call

pytestmark = pytest.mark.committed
TOOL = "asked.keyed"


def switch(desk: Desk, word: str, name: str = TOOL, by: Person | None = None) -> Any:
    does = definitions.switch_off if word == "off" else definitions.switch_on
    return does(desk.cast.northwind, name, by=by or desk.cast.omar)


def message(desk: Desk, run: Any) -> str:
    [told] = desk.results(run)
    return str(told["message"])


def test_what_is_proposed_of_a_tool_that_is_off_is_refused_and_the_agent_is_told(desk: Desk) -> None:
    """HF-6."""
    assert switch(desk, "off") is None
    run = desk.begin([call(TOOL)], [])
    assert desk.calls(run)[0].status == "refused" and f"The tool {TOOL} is switched off." in message(desk, run)


def test_what_was_approved_before_is_not_sent(desk: Desk) -> None:
    """HF-6: it is asked again at the moment of sending."""
    run = desk.begin([call(TOOL)], [])
    switch(desk, "off")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    desk.work(run)
    assert desk.calls(run)[0].status == "refused" and tooling.happened("sent") == []


def test_switched_on_again_it_is_used_as_before(desk: Desk) -> None:
    switch(desk, "off", "free.pure")
    switch(desk, "on", "free.pure")
    run = desk.begin([call("free.pure")], [])
    assert desk.calls(run)[0].status == "executed"
    kinds = ["tool.switched_off", "tool.switched_on"]
    told = entries.read(desk.cast.northwind.pk, "workspace", only=kinds)
    assert [(one["kind"], one["name"], one["by"]) for one in told] == [
        (kind, "free.pure", desk.cast.omar.public_id) for kind in kinds
    ]


def test_a_new_version_of_a_tool_that_is_off_is_off(desk: Desk) -> None:
    switch(desk, "off")
    tool = toolbox.tool_named(desk.cast.northwind.pk, TOOL)
    assert tool is not None
    more = {"kind": "function", "config": tool.config, "effect": "keyed", "by": "system"}
    definitions.register_tool(desk.cast.northwind.pk, {"name": TOOL, "inputSchema": tooling.SCHEMA}, **more)
    assert definitions.why_off(desk.cast.northwind.pk, TOOL) and Tool.objects.filter(name=TOOL).count() == 2


def test_a_reader_that_is_off_is_not_read_beside_a_call(desk: Desk) -> None:
    tool = toolbox.tool_named(desk.cast.northwind.pk, "free.pure")
    assert tool is not None and definitions.reads(tool)
    switch(desk, "off", "free.pure")
    assert not definitions.reads(tool)


@pytest.mark.parametrize("word", ["off", "on"])
def test_only_who_administers_switches_a_tool(word: str, desk: Desk) -> None:
    """AZ-1."""
    assert switch(desk, word, by=desk.cast.dana).code == "not_allowed"
    assert definitions.off(desk.cast.northwind.pk) == {}


def test_a_right_that_was_written_past_placet_switches_nothing_on(desk: Desk) -> None:
    """AZ-13: to stop is never the wrong way, to let go on may be."""
    from guardian.shortcuts import assign_perm

    switch(desk, "off")
    with rows.within(desk.cast.northwind):
        assign_perm("administer", desk.cast.dana, desk.cast.northwind)
    assert people.may(desk.cast.dana, "administer", desk.cast.northwind)
    assert switch(desk, "on", by=desk.cast.dana).code == "not_allowed"


def test_switching_twice_and_a_tool_that_is_none_are_refused(desk: Desk) -> None:
    assert switch(desk, "on").code == "switched_already"
    switch(desk, "off")
    assert switch(desk, "off").code == "switched_already" and switch(desk, "off", "no.tool").code == "unknown_tool"


def test_a_ledger_that_proves_nothing_does_not_prove_that_a_tool_is_on(desk: Desk, monkeypatch: Any) -> None:
    assert definitions.why_off(desk.cast.northwind.pk, TOOL) == ""
    monkeypatch.setattr(followed, "lines_behind", lambda *_: [])
    assert "Nobody can tell" in definitions.why_off(desk.cast.northwind.pk, TOOL)
    assert switch(desk, "off") is None, "to stop is possible all the same"


def test_the_command_switches_and_lists(desk: Desk) -> None:
    def say(*words: str) -> str:
        out = StringIO()
        call_command("tools", *words, "--workspace", "northwind", stdout=out)
        return out.getvalue()

    assert (
        say("off", TOOL, "--as", desk.cast.omar.email) == f"{TOOL} is switched off. Nothing of it is asked or sent.\n"
    )
    assert f"{TOOL}  function  keyed  version 1" in say("list") and say("list").count("switched off") == 1
    assert "is used again." in say("on", TOOL) and "switched off" not in say("list")
    with pytest.raises(CommandError, match="Only those who administer"):
        say("off", TOOL, "--as", desk.cast.dana.email)
