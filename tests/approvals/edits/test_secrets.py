"""A secret is replaced or left, never shown: not in a form, not in its JSON text, not in what an edit tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.template.loader import render_to_string

from approvals.edits import Tool, fields, raw_text, read, read_raw
from tests.approvals.edits.tools import drawn, form_of, pressed, saved

TOOL = Tool(
    {
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string"},
            "pin": {"type": "integer"},
            "token": {"type": ["string", "null"]},
            "env": {"type": "object"},
            "clients": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "secret": {"type": "string"}}},
            },
        },
    }
)
BASE: dict[str, Any] = {
    "user": "report-reader",
    "password": "••••••••",
    "pin": 4471,
    "env": {"API_KEY": "s3cr3t-key", "MODE": "x"},
    "clients": [{"name": "a", "secret": "s3cr3t-a"}, {"name": "b", "secret": "s3cr3t-b"}],
}
SECRETS = ["4471", "s3cr3t-key", "s3cr3t-a", "s3cr3t-b"]


def test_no_secret_stands_in_the_page() -> None:
    """WB-9 AP-X7 RN-13: neither in the form nor in the JSON text."""
    html = render_to_string("edits/fields.html", {"form": fields(TOOL, BASE)})
    for secret in SECRETS:
        assert secret not in html
        assert secret not in raw_text(TOOL, BASE)


def test_an_untouched_secret_keeps_its_value_whatever_it_looks_like() -> None:
    """WB-9 IN-E49: also one that looks like a mask."""
    edited = saved(form_of(TOOL, BASE), TOOL, BASE)
    assert edited.value == BASE


def test_a_secret_is_replaced_by_an_explicit_step() -> None:
    """WB-9: a button opens an empty field; keeping the old one is another button."""
    form = pressed(form_of(TOOL, BASE), "replace:/password", TOOL, BASE)
    assert form["f:/password"] == ""
    form["f:/password"] = "new one"
    edited = saved(form, TOOL, BASE)
    assert edited.value == {**BASE, "password": "new one"}
    assert [(change.pointer, change.pieces) for change in edited.changes] == [("/password", ())]
    assert saved(pressed(form, "reset:/password", TOOL, BASE), TOOL, BASE).value == BASE


def test_a_text_without_the_step_is_refused() -> None:
    """WB-9 IN-E49: a mask that is sent back is not saved."""
    edited = read(form_of(TOOL, BASE).posted("save") | {"f:/password": ["••••••••••••••••"]}, TOOL, BASE)
    assert [fault.pointer for fault in edited.faults] == ["/password"]


def test_a_replaced_number_is_read_as_strictly_as_any() -> None:
    """JS-8: a pin of digits."""
    form = pressed(form_of(TOOL, BASE), "replace:/pin", TOOL, BASE)
    form["f:/pin"] = "12x"
    assert [fault.pointer for fault in saved(form, TOOL, BASE).faults] == ["/pin"]
    form["f:/pin"] = "1234"
    assert saved(form, TOOL, BASE).value == {**BASE, "pin": 1234}


def test_a_secret_moves_with_its_entry() -> None:
    """WB-9: when the first client is taken out the second keeps its own secret."""
    form = pressed(form_of(TOOL, BASE), "remove:/clients/0", TOOL, BASE)
    assert saved(form, TOOL, BASE).value == {**BASE, "clients": [{"name": "b", "secret": "s3cr3t-b"}]}


def test_a_new_secret_is_typed_and_not_shown_in_the_difference() -> None:
    """RN-13 AP-X7: a member that was not there."""
    form = pressed(form_of(TOOL, BASE), "add:/token", TOOL, BASE)
    form["f:/token"] = "tok-123"
    edited = saved(form, TOOL, BASE)
    assert edited.value == {**BASE, "token": "tok-123"}
    shown = edited.changes[0].after
    assert shown is not None
    assert "tok-123" not in shown.plain


def test_what_was_typed_survives_another_button() -> None:
    """AP-E1: a replaced secret is not lost when something else is added."""
    form = pressed(form_of(TOOL, BASE), "replace:/password", TOOL, BASE)
    form["f:/password"] = "new one"
    form = pressed(form, "append:/clients", TOOL, BASE)
    assert form["f:/password"] == "new one"


def test_json_keeps_secrets_by_marks_that_move_with_their_place() -> None:
    """WB-9: the second client's secret is still its own when the first is deleted from the text."""
    value = json.loads(raw_text(TOOL, BASE))
    del value["clients"][0]
    edited = read_raw(json.dumps(value), TOOL, BASE)
    assert edited.value == {**BASE, "clients": [{"name": "b", "secret": "s3cr3t-b"}]}


@pytest.mark.parametrize(
    ("place", "mark"),
    [
        ("user", "/password"),
        ("password", "/pin"),
        ("password", "/nothing"),
        ("password", "no pointer"),
        ("user", "/env/API_KEY"),
    ],
)
def test_a_mark_cannot_carry_a_secret_elsewhere(place: str, mark: str) -> None:
    """WB-9 RN-13: it would be shown there, or go to another field."""
    value = {**json.loads(raw_text(TOOL, BASE)), place: {"$kept": mark}}
    edited = read_raw(json.dumps(value), TOOL, BASE)
    assert [(fault.pointer, fault.rule) for fault in edited.faults] == [(f"/{place}", "masked")]


def test_a_mark_stays_in_its_own_field_and_not_in_one_of_the_same_name() -> None:
    """WB-9: what is one service's token is no other's."""
    one = {"type": "object", "properties": {"token": {"type": "string"}}}
    tool = Tool({"type": "object", "properties": {"ours": one, "theirs": one}})
    base = {"ours": {"token": "hunter2"}, "theirs": {"token": "x"}}
    carried = {"ours": {"token": {"$kept": "/ours/token"}}, "theirs": {"token": {"$kept": "/ours/token"}}}
    edited = read_raw(json.dumps(carried), tool, base)
    assert [(fault.pointer, fault.rule) for fault in edited.faults] == [("/theirs/token", "masked")]


ONE: dict[str, Any] = {"type": "object", "properties": {"token": {"type": "string"}}}
SHIFTS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "another member with a number for a name": (
        {"type": "object", "additionalProperties": ONE},
        {"1": {"token": "hunter2"}, "2": {"token": "x"}},
        {"1": {"token": "y"}, "2": {"token": {"$kept": "/of/1/token"}}},
    ),
    "a member of what was a list": (
        {"anyOf": [{"type": "array", "items": ONE}, {"type": "object", "additionalProperties": ONE}]},
        [{"token": "hunter2"}],
        {"0": {"token": {"$kept": "/of/0/token"}}},
    ),
    "another entry of a list of different things": (
        {"type": "array", "prefixItems": [ONE, {**ONE, "title": "Theirs"}]},
        [{"token": "hunter2"}, {"token": "x"}],
        [{"token": "y"}, {"token": {"$kept": "/of/0/token"}}],
    ),
}


@pytest.mark.parametrize("shift", SHIFTS)
def test_no_number_in_a_mark_leads_to_a_sibling(shift: str) -> None:
    """WB-9 RN-13: only among the like entries of a list does a secret move."""
    schema, base, edited = SHIFTS[shift]
    tool = Tool({"type": "object", "properties": {"of": schema}})
    told = read_raw(json.dumps({"of": edited}), tool, {"of": base})
    assert [fault.rule for fault in told.faults] == ["masked"]


def test_a_value_that_looks_like_a_mark_comes_back() -> None:
    """WB-9: it is kept like a secret, so nothing can be mistaken."""
    base = {"env": {"odd": {"$kept": "/env"}}}
    assert read_raw(raw_text(TOOL, base) + "\n", TOOL, base).value == base
    assert saved(form_of(TOOL, base), TOOL, base).value == base


def test_a_fault_in_json_has_its_line() -> None:
    """AP-E2: and names the field."""
    text = '{\n  "user": 5,\n  "clients": [\n    {"name": "a", "more": 1}\n  ]\n}'
    edited = read_raw(text, TOOL, {"user": "x", "clients": []})
    assert dict(zip([fault.pointer for fault in edited.faults], [line for line, _ in edited.lines], strict=True)) == {
        "/clients/0/more": 4,
        "/user": 2,
    }


def test_a_secret_in_a_faulty_form_is_still_hidden() -> None:
    """JS-6 WB-9: also on the page that comes back."""
    form = form_of(TOOL, BASE)
    form["f:/env"] = "{"
    edited = saved(form, TOOL, BASE)
    assert edited.form is not None
    back = drawn(edited.form)
    assert all(secret not in one.value for one in back.controls for secret in SECRETS)
