"""The recorded tools of published servers: all are taken in, and each recorded call is judged as recorded."""

from __future__ import annotations

from typing import Any

from approvals import schemas

Servers = list[tuple[str, list[dict[str, Any]]]]


def test_every_published_tool_is_admitted_and_none_in_silence(case_servers: Servers) -> None:
    """JS-1, IN-E22 to IN-E28: what a root leaves open is a warning at the tool."""
    for server, tools in case_servers:
        for tool in tools:
            admission = schemas.admit(tool)
            opened = "additionalProperties" not in tool["inputSchema"]
            assert any(warning.rule == "open" for warning in admission.warnings) >= opened, (server, tool["name"])


def test_every_recorded_call_is_judged_as_recorded(case_servers: Servers, case_calls: list[dict[str, Any]]) -> None:
    """JS-6, JS-8, CH-B141: arguments and edits fit; an invalid edit has its first fault at the field recorded."""
    tools = {(server, tool["name"]): tool["inputSchema"] for server, found in case_servers for tool in found}
    for call in case_calls:
        schema = tools[call["server"], call["tool"]]
        for arguments in (call["arguments"], call["edit"]):
            assert arguments is None or schemas.validate(schema, arguments) == (), call["tool"]
        if call["invalid_edit"] is not None:
            faults = schemas.validate(schema, call["invalid_edit"])
            assert {fault.pointer for fault in faults} == {call["invalid_at"]}, call["tool"]
