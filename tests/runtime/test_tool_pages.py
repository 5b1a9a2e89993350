"""The pages of tools: what they show, the switch, and taking a list in."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import policies
from approvals.approvals import Approval
from runtime import definitions, schema_lines
from runtime.definitions import Tool, toolbox
from tests.confirmed import confirmed
from tests.runtime.conftest import POLICY, Desk, call

pytestmark = pytest.mark.committed
TOOLS = "/w/northwind/tools"
IMPORT = f"{TOOLS}/import"
CARD: dict[str, Any] = {
    "name": "cards.block",
    "description": "Block a card.",
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["card"],
        "properties": {
            "card": {"$ref": "#/$defs/card"},
            "why": {"enum": ["lost", "stolen"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 30, "default": 7},
            "notes": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
        "$defs": {"card": {"type": "object", "properties": {"number": {"type": "string", "writeOnly": True}}}},
    },
}


def words(answer: Any) -> str:
    """A page as it is read, without its tags."""
    return unescape(" ".join(re.sub("<[^>]*>", " ", answer.content.decode()).split()))


def named(desk: Desk, name: str) -> Tool:
    tool = toolbox.tool_named(desk.cast.northwind.pk, name)
    assert tool is not None
    return tool


def page_of(desk: Desk, name: str) -> str:
    return f"{TOOLS}/{named(desk, name).public_id}"


def listed(*tools: dict[str, Any]) -> dict[str, str]:
    """The form of the import, as somebody fills it in."""
    return {"document": json.dumps({"tools": tools}), "effect": "keyed", "url": "http://127.0.0.1:9", "do": "take"}


@pytest.fixture
def omar(desk: Desk, settings: Any) -> Client:
    settings.PLACET_ALLOW_ADDRESSES = {"127.0.0.1:9"}
    return confirmed(desk.cast.omar)


def test_the_list_tells_each_tool_and_finds_by_a_part_of_its_name(omar: Client) -> None:
    page = words(omar.get(TOOLS))
    assert "Free.Pure free.pure Only reads" in page and "15 of 15 tools" in page and "Take tools in" in page
    found = words(omar.get(TOOLS, {"q": "ED.UNS"}))
    assert "asked.unsafe" in found and "free.pure" not in found
    assert "No tool is called that" in words(omar.get(TOOLS, {"q": "nothing"}))


def test_the_queries_of_the_list_do_not_grow_with_it(omar: Client) -> None:
    def count(**query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert omar.get(TOOLS, query).status_code == 200
        return len(queries)

    count()
    assert count() == count(q="free.pure") <= 16


def test_a_tool_tells_its_arguments_promise_versions_and_use(omar: Client, desk: Desk) -> None:
    desk.begin([call("free.keyed")], [])
    page = words(omar.get(page_of(desk, "free.keyed")))
    assert "n whole number needed" in page and "Once per call" in page and "Other arguments are accepted" in page
    assert "Version 1 in force by an operator" in page and "Calls 1 Ran 1" in page and "By scripted" in page


def test_what_a_new_version_changed_is_told_with_who_and_when(omar: Client, desk: Desk) -> None:
    omar.post(IMPORT, listed(CARD))
    omar.post(IMPORT, listed(CARD | {"description": "Block a card for good."}))
    page = words(omar.get(page_of(desk, "cards.block")))
    assert "Version 2 in force by Omar Haddad" in page
    assert "/description was Block a card. now Block a card for good." in page


def test_a_schema_is_read_as_lines() -> None:
    told = [(one.pointer, one.kind, one.limits, one.hidden) for one in schema_lines.lines(CARD["inputSchema"])]
    assert told == [
        ("/card", "group", "", ""),
        ("/card/number", "text", "", "A secret."),
        ("/why", "one of lost, stolen", "", ""),
        ("/days", "whole number", "at least 1, at most 30, 7 if nothing is said", ""),
        ("/notes", "list of text", "at most 3 entries", ""),
    ]
    assert schema_lines.lines(CARD["inputSchema"], ("/card",))[1].hidden == "Policy hides it."


def test_a_schema_that_holds_itself_ends() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}}
    assert [one.pointer for one in schema_lines.lines(schema)] == ["/a"]
    assert len(schema_lines.lines({"properties": {str(n): {} for n in range(900)}})) == schema_lines.MOST


def test_a_tool_is_switched_off_and_on(omar: Client, desk: Desk) -> None:
    """HF-6."""
    page = page_of(desk, "asked.keyed")
    assert omar.post(f"{page}/switch", {"to": "off"})["Location"] == page
    told = words(omar.get(page))
    assert "Omar Haddad switched it off" in told and "Use it again" in told
    assert words(omar.get(TOOLS)).count("Switched off") == 1
    omar.post(f"{page}/switch", {"to": "on"})
    assert definitions.off(desk.cast.northwind.pk) == {} and "Switch it off" in words(omar.get(page))


def test_switching_on_takes_a_fresh_sign_in_and_switching_off_does_not(desk: Desk) -> None:
    client, page = confirmed(desk.cast.omar, ago=4000), page_of(desk, "free.pure")
    client.post(f"{page}/switch", {"to": "off"})
    assert client.post(f"{page}/switch", {"to": "on"})["Location"].startswith("/accounts/")
    assert "free.pure" in definitions.off(desk.cast.northwind.pk)


def test_who_does_not_administer_reads_why_and_changes_nothing(desk: Desk) -> None:
    """AZ-1."""
    dana, page = confirmed(desk.cast.dana), page_of(desk, "free.pure")
    told = words(dana.get(page))
    assert "Switched by those who administer the workspace: Omar Haddad." in told and "Switch it off" not in told
    assert "Take tools in" not in words(dana.get(TOOLS))
    for answer in (dana.post(f"{page}/switch", {"to": "off"}), dana.get(IMPORT), dana.post(IMPORT, listed(CARD))):
        assert answer.status_code == 403
    assert definitions.off(desk.cast.northwind.pk) == {} and not Tool.objects.filter(name="cards.block").exists()


def test_a_list_is_looked_at_before_it_is_taken_in(omar: Client, desk: Desk) -> None:
    page = words(omar.post(IMPORT, listed(CARD, {"name": "loose", "inputSchema": {}}) | {"do": "look"}))
    assert "cards.block New" in page and "Take 2 tools in" in page and "warning" in page
    assert not Tool.objects.filter(name="cards.block").exists()
    assert omar.post(IMPORT, listed(CARD))["Location"] == TOOLS and "1 tool was taken in." in words(omar.get(TOOLS))
    assert named(desk, "cards.block").config == {"url": "http://127.0.0.1:9/cards.block"}
    assert "in force already" in words(omar.post(IMPORT, listed(CARD) | {"do": "look"}))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"document": "{"}, "JSON"),
        ({"document": '{"tools": [{"name": ""}]}'}, "/tools/0"),
        ({"document": '{"things": []}'}, "there is no list of tools here"),
        ({"url": "ftp://x.example"}, "http"),
        ({"effect": "magic"}, "Choose what they promise."),
    ],
)
def test_what_is_wrong_with_a_list_is_said_and_it_stays(more: dict[str, str], said: str, omar: Client) -> None:
    asked = listed(CARD) | more
    answer = omar.post(IMPORT, asked)
    assert answer.status_code == 422 and said in answer.content.decode()
    assert asked["document"][:8].replace('"', "&quot;") in answer.content.decode()


def test_without_a_fresh_sign_in_nothing_is_taken_and_nothing_is_lost(desk: Desk) -> None:
    answer = confirmed(desk.cast.omar, ago=4000).post(IMPORT, listed(CARD) | {"url": ""})
    assert "Confirm first that it is you" in words(answer) and "cards.block" in answer.content.decode()
    assert not Tool.objects.filter(name="cards.block").exists()


def test_where_the_workspace_wants_it_approved_people_are_asked(omar: Client, desk: Desk) -> None:
    rule = "  - {id: tools, match: {kind: change}, verdict: require_approval, approvals: [{team: finance}]}\n"
    policies.load(desk.cast.northwind, POLICY + rule, by="system")
    assert "to be approved first" in words(omar.post(IMPORT, listed(CARD) | {"do": "look"}))
    omar.post(IMPORT, listed(CARD) | {"reason": "New cards."})
    assert "cards.block waits until people approved it." in words(omar.get(TOOLS))
    assert Approval.objects.get().tool == "change.tool" and not Tool.objects.filter(name="cards.block").exists()
