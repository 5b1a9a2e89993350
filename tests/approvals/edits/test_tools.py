"""The forms of whole tools: small ones of our own in the shapes of real ones, and the recorded ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from approvals.edits import Edited, Tool, fields, read, read_raw, secrets, table
from approvals.edits.places import at
from approvals.ledger import canonical
from tests import cases, forms
from tests.approvals.edits.samples import sample
from tests.approvals.edits.tools import form_of, pressed, saved
from tests.editing import Editor, NotOffered

OWN = Path(__file__).resolve().parents[2] / "tools"
Servers = list[tuple[str, list[dict[str, Any]]]]
EVERY = 20
"""Of the recorded tools one in so many is drawn as a page and sent back; all of them are grown and settled."""


def bytes_of(value: Any) -> bytes:
    return canonical.encode(canonical.parse(canonical.encode(value)))


def tools_of(servers: Servers) -> dict[tuple[str, str], Tool]:
    return {(server, tool["name"]): Tool(tool["inputSchema"]) for server, tools in servers for tool in tools}


@pytest.fixture(scope="module")
def tools(case_servers: Servers) -> dict[tuple[str, str], Tool]:
    return tools_of(case_servers) | tools_of(list(cases.servers(OWN)))


@pytest.fixture(scope="module")
def calls(case_calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return case_calls + cases.calls(OWN)


def test_every_argument_of_every_call_is_in_the_table(
    tools: dict[tuple[str, str], Tool], calls: list[dict[str, Any]]
) -> None:
    """AP-X1 AP-X2: all values, to any depth, complete; secrets as dots."""
    for call in calls:
        tool, args = tools[call["server"], call["tool"]], call["arguments"]
        shown = "\n".join(row.shown.plain for row in table(args, tool))
        hidden = secrets(args, tool)
        for pointer, value in _leaves(args, "") if args else []:
            if not any(pointer.startswith(secret) for secret in hidden):
                plain = (
                    value.replace("\r\n", "\n").strip() if isinstance(value, str) else canonical.encode(value).decode()
                )
                assert plain.replace("\t", "U+0009") in shown, (call["tool"], pointer)


def test_every_edit_arrives_through_the_form(tools: dict[tuple[str, str], Tool], calls: list[dict[str, Any]]) -> None:
    """AP-E1 AP-E4 AP-E5 JS-8: made with its controls and buttons, byte for byte."""
    for call in calls:
        tool, args = tools[call["server"], call["tool"]], call["arguments"]
        form = form_of(tool, args)
        assert bytes_of(saved(form, tool, args).value) == bytes_of(args), call["tool"]
        if call["edit"] is not None:
            edited = saved(_edited(form, tool, args, call["edit"]), tool, args)
            assert edited.faults == (), call["tool"]
            assert bytes_of(edited.value) == bytes_of(call["edit"]), call["tool"]


def test_every_invalid_edit_is_refused_at_its_field(
    tools: dict[tuple[str, str], Tool], calls: list[dict[str, Any]]
) -> None:
    """AP-E2 AP-E7 JS-6 JS-10 IN-E7 IN-E43: in the form where it has a way to say it, else as JSON."""
    for call in calls:
        if call["invalid_edit"] is not None:
            tool, args = tools[call["server"], call["tool"]], call["arguments"]
            edited = _attempted(tool, args, call["invalid_edit"])
            assert edited.value is None, call["tool"]
            assert call["invalid_at"] in [fault.pointer for fault in edited.faults], (call["tool"], edited.faults)


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_every_tool_has_a_form_that_changes_nothing_by_itself(tools: dict[tuple[str, str], Tool], turn: int) -> None:
    """AP-E1 JS-11 IN-E18: for no arguments and for made-up ones in every field."""
    for number, (key, tool) in enumerate(tools.items()):
        if number % 3 != turn and key[0] != "workshop":
            continue
        value = sample(tool.schema, tool.schema, 3, turn)
        assert len(list(fields(tool, value).root.walk())) < 3000, key
        if number % EVERY == turn or key[0] == "workshop":
            assert bytes_of(_sent_back(form_of(tool, value), tool, value).value) == bytes_of(value), key


def _sent_back(form: forms.Form, tool: Tool, value: Any) -> Edited:

    return read(form.posted(), tool, value)


def _edited(form: forms.Form, tool: Tool, args: Any, after: Any, *, loose: bool = False) -> forms.Form:
    def press(shown: forms.Form, do: str) -> forms.Form:
        return pressed(shown, do, tool, args)

    return Editor(form, press, loose=loose).change(args, after)


def _attempted(tool: Tool, args: Any, after: Any) -> Edited:
    try:
        return saved(_edited(form_of(tool, args), tool, args, after, loose=True), tool, args)
    except NotOffered:
        return read_raw(canonical.encode(after).decode(), tool, args)


def _leaves(value: Any, pointer: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict | list) and value:
        parts = value if isinstance(value, dict) else range(len(value))
        return [
            leaf
            for part in parts
            for leaf in _leaves(at(value, canonical.join([part])), pointer + canonical.join([part]))
        ]
    return [(pointer, value)]
