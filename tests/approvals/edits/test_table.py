"""What will run is shown whole: every argument, typed, in the schema's order, nothing hidden and nothing cut."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.edits import Argument, Tool, secrets, table
from approvals.edits.table import masked_count

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["amount"],
    "properties": {
        "charge": {"type": "string"},
        "amount": {"type": "integer"},
        "currency": {"type": "string"},
        "payout_date": {"type": "string", "format": "date"},
        "emails": {"type": "array", "items": {"type": "string"}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
        "metadata": {"type": "object"},
        "api_key": {"type": "string"},
    },
}
TOOL = Tool(SCHEMA, {"/amount": "/currency"})


def row_of(args: Any, pointer: str, **more: Any) -> Argument:
    return next(row for row in table(args, TOOL, **more) if row.pointer == pointer)


def said(args: Any, pointer: str) -> tuple[str, str]:
    row = row_of(args, pointer)
    return row.shown.plain, row.shown.note


def test_required_arguments_come_first_then_the_schemas_order_then_strangers() -> None:
    """AP-X9: the fields a decision is about lead."""
    args = {"zebra": 1, "emails": [], "charge": "ch_1", "amount": 5, "ant": 2}
    assert [row.pointer for row in table(args, TOOL)] == ["/amount", "/charge", "/emails", "/ant", "/zebra"]


@pytest.mark.parametrize(
    ("value", "shown", "note"),
    [
        ("ch_3P", "ch_3P", ""),
        ("4471", '"4471"', "text"),
        ("true", '"true"', "text"),
        ("null", '"null"', "text"),
        ("", '""', "empty text"),
        (" x", '" x"', "text"),
        ('["a"]', '"["a"]"', "text"),
        (4471, "4471", ""),
        (1e21, "1e+21", ""),
        (True, "true", ""),
        (None, "null", ""),
        ([], "[]", "empty list"),
        ({}, "{}", "empty object"),
        (["a b", "c"], '["a b", "c"]', "list of 2"),
        ({"a": 1}, "object, 1 entry", ""),
    ],
)
def test_a_value_shows_its_type(value: Any, shown: str, note: str) -> None:
    """AP-E1 AP-X4: "10" and 10, null and "", one entry and two are told apart."""
    assert said({"metadata2": value}, "/metadata2") == (shown, note)


def test_money_leads_with_what_people_read() -> None:
    """AP-X9: and says what is sent."""
    assert said({"amount": 124000, "currency": "eur"}, "/amount") == ("€1,240.00", "sent as 124000")
    assert said({"amount": 124000}, "/amount") == ("124000", "")


def test_a_date_says_its_day() -> None:
    """AP-X9: and a text that is no date only shows itself."""
    assert said({"payout_date": "2026-12-04"}, "/payout_date") == ("2026-12-04", "Friday 4 December 2026")
    assert said({"payout_date": "soon"}, "/payout_date") == ("soon", "")


def test_a_long_text_is_complete() -> None:
    """AP-X2 RN-7 RN-8: its end is there, and its length is said."""
    text = "word " * 400 + "\nrm -rf /"
    row = row_of({"charge": text}, "/charge")
    assert row.shown.prose
    assert row.shown.plain == text
    assert row.shown.note == "2,009 characters, 2 lines"


def test_invisible_characters_are_counted_in_the_note() -> None:
    """AP-X5 AP-X6 RN-5."""
    assert said({"charge": "pallets\u200b wet"}, "/charge") == ("palletsU+200B wet", "1 invisible character")


def test_nested_values_have_rows_of_their_own() -> None:
    """AP-X1 AP-X2: to any depth, entries counted from 1."""
    args = {"lines": [{"id": "a"}, {"id": "b", "deep": {"x": [1, {"y": None}]}}]}
    rows = [(row.pointer, "".join(part.text for part in row.name), row.depth) for row in table(args, TOOL)]
    assert rows[:3] == [("/lines", "lines", 0), ("/lines/0", "entry 1", 1), ("/lines/0/id", "id", 2)]
    assert rows[-1] == ("/lines/1/deep/x/1/y", "y", 5)


def test_a_stranger_is_shown_and_marked() -> None:
    """IN-E7 IN-E27: an argument that the schema does not name."""
    assert [row.known for row in table({"amount": 1, "Amount": 2}, TOOL)] == [True, False]


def test_names_that_look_alike_are_warned_of() -> None:
    """IN-E8 IN-E9: composed and decomposed, with something invisible, in another case."""
    args = {"caf\u00e9": 1, "cafe\u0301": 2, "am\u200bount": 3, "amount": 4}
    warned = {row.pointer for row in table(args, TOOL) if row.warnings}
    assert warned == {"/caf\u00e9", "/cafe\u0301", "/am\u200bount", "/amount"}
    assert any(part.text == "U+200B" for part in row_of(args, "/am\u200bount").name)


def test_a_secret_is_dots_and_says_why() -> None:
    """AP-X7 RN-13: its length at most, never a part of it; by name at any depth, and by its look."""
    args = {"api_key": "k" * 32, "metadata": {"password": "hunter2", "note": "ghp_" + "b" * 36}}
    rows = table(args, TOOL)
    notes = {row.pointer: row.shown.note for row in rows if row.shown.secret}
    assert notes == {
        "/api_key": "masked, 32 characters",
        "/metadata/password": "masked, 7 characters",
        "/metadata/note": "masked, 40 characters",
    }
    assert masked_count(rows) == 3
    assert not {"hunter2", "k" * 32} & {row.shown.plain for row in rows}
    assert set(secrets(args, TOOL)) == {"/api_key", "/metadata/password", "/metadata/note"}


def test_a_secret_that_is_null_says_so() -> None:
    """RN-13: that nothing is there is no secret."""
    assert said({"api_key": None}, "/api_key") == ("null", "")


def test_changes_stand_at_their_rows_and_removals_have_their_own() -> None:
    """RN-15 AP-X1: against the revision before."""
    before = {"amount": 142000, "currency": "eur", "emails": ["a@x.example"], "charge": "ch_1"}
    after = {"amount": 124000, "currency": "eur", "emails": ["a@x.example", "b@x.example"]}
    kinds = {row.pointer: row.change.kind for row in table(after, TOOL, before=before) if row.change}
    assert kinds == {"/amount": "changed", "/emails/1": "added", "/charge": "removed"}
    assert row_of(after, "/charge", before=before).removed


def test_what_would_take_thousands_of_rows_is_one_text_in_full() -> None:
    """AP-X2 RN-7: everything is there, secrets are still dots, and small arguments keep their rows."""
    many = [{"id": f"entry-{number}", "password": "hunter2"} for number in range(3000)]
    rows = table({"amount": 5, "currency": "eur", "lines": many}, TOOL)
    assert [row.pointer for row in rows] == ["/amount", "/currency", "/lines"]
    assert "entry-0" in rows[2].shown.plain
    assert "entry-2999" in rows[2].shown.plain
    assert "hunter2" not in rows[2].shown.plain
    assert (rows[2].shown.note, masked_count(rows)) == ("list of 3,000, as JSON", 3000)
    before = {"amount": 5, "currency": "eur", "lines": many[:-1]}
    assert "/lines/2999" in {row.pointer for row in table({**before, "lines": many}, TOOL, before=before) if row.change}
