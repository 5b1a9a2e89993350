"""The form of an edit: what it offers, and how exactly it takes what is typed."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.edits import Edited, Field, Tool, fields, read
from tests.approvals.edits.tools import form_of, pressed, saved

TOOL = Tool(
    {
        "type": "object",
        "required": ["amount", "customer"],
        "properties": {
            "customer": {"type": "string", "title": "Customer"},
            "amount": {"type": "integer", "minimum": 1, "maximum": 10080},
            "rate": {"type": "number"},
            "currency": {"enum": ["eur", "usd"]},
            "express": {"type": "boolean"},
            "note": {"type": ["string", "null"]},
            "on": {"type": "string", "format": "date"},
            "limit": {"type": "integer", "default": 20, "description": "How many. " * 60},
            "emails": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["sku", "count"],
                    "properties": {
                        "sku": {"type": "string"},
                        "count": {"type": "integer"},
                        "gift": {"type": "boolean"},
                    },
                },
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "who": {
                "oneOf": [
                    {
                        "type": "object",
                        "required": ["kind"],
                        "properties": {"kind": {"const": "user"}, "id": {"type": "integer"}},
                    },
                    {
                        "type": "object",
                        "required": ["kind"],
                        "properties": {"kind": {"const": "team"}, "slug": {"type": "string"}},
                    },
                ]
            },
            "level": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]},
            "version": {"const": 2},
            "filter": {"type": "object"},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                },
            }
        },
    }
)
BASE: dict[str, Any] = {"customer": "Acme", "amount": 5}


def filled(**changes: str) -> Edited:
    """What comes of a form in which these fields are changed and saved."""
    form = form_of(TOOL, {**BASE, **GIVEN})
    for name, text in changes.items():
        form[f"f:/{name}"] = text
    return saved(form, TOOL, {**BASE, **GIVEN})


GIVEN: dict[str, Any] = {
    "rate": 1.5,
    "currency": "eur",
    "express": True,
    "note": "hello",
    "filter": {"a": [1, {"b": None}]},
}


def control_of(value: dict[str, Any], pointer: str, **more: Any) -> Field:
    return next(one for one in fields(TOOL, value, **more).root.walk() if one.pointer == pointer)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("amount", "12", 12),
        ("rate", "-0.25", -0.25),
        ("rate", "1e2", 100),
        ("customer", " spaces stay ", " spaces stay "),
        ("customer", "", ""),
        ("customer", "10", "10"),
        ("currency", '"usd"', "usd"),
        ("express", "false", False),
        ("note", "two\nlines", "two\nlines"),
        ("filter", '{"status": "void", "n": 2}', {"status": "void", "n": 2}),
    ],
)
def test_a_typed_value_arrives_exactly_with_its_type(name: str, text: str, value: Any) -> None:
    """AP-E1 AP-E4 JS-8 IN-E40: text by the declared type alone, nothing trimmed or coerced."""
    edited = filled(**{name: text})
    assert edited.faults == ()
    assert edited.value == {**BASE, **GIVEN, name: value}
    assert type(edited.value[name]) is type(value)


@pytest.mark.parametrize(
    "text", ["30r", "１２", "१२", " 12 ", "12 ", "1_000", "+5", "0x10", "1e3", "012", "49.5", "5.0", "-", "", "1,000"]
)
def test_what_is_no_integer_is_refused_and_kept_as_typed(text: str) -> None:
    """AP-E7 IN-E39 IN-E40 JS-8: the error stands at the field, the text stays, nothing is repaired."""
    edited = filled(amount=text)
    assert [(fault.pointer, fault.rule) for fault in edited.faults] == [("/amount", "type")]
    assert edited.form is not None
    assert next(one for one in edited.form.faulty).text == text
    assert edited.value is None


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "1e400", ".5", "5.", "٣", "1,5", "1e", "--1", "0.1000000000000000055511151231257827"]
)
def test_what_is_no_json_number_is_refused(text: str) -> None:
    """IN-E1 IN-E2 IN-E39 JS-5 JS-8: also a number that would become another one."""
    edited = filled(rate=text)
    assert [fault.pointer for fault in edited.faults] == ["/rate"]


def test_a_number_too_large_to_be_exact_is_refused() -> None:
    """WB-8 IN-E4 CH-B143: never rounded; it says to send text."""
    edited = filled(amount="9007199254740993")
    assert "send it as text" in edited.faults[0].message.lower()


def test_a_schema_fault_stands_at_its_field() -> None:
    """AP-E2 JS-6: the field, and what would be right."""
    edited = filled(amount="20160")
    assert [(fault.pointer, fault.rule) for fault in edited.faults] == [("/amount", "maximum")]
    assert edited.form is not None
    assert [one.pointer for one in edited.form.faulty] == ["/amount"]


def test_an_option_that_is_not_offered_is_refused() -> None:
    """JS-8: what no browser would send."""
    form = form_of(TOOL, {**BASE, "currency": "eur"})
    form.control("f:/currency").value = '"gbp"'
    edited = saved(form, TOOL, {**BASE, "currency": "eur"})
    assert [(fault.pointer, fault.message) for fault in edited.faults] == [("/currency", "Must be eur or usd.")]


def test_raw_json_says_the_line_of_its_fault() -> None:
    """IN-E5 JS-13: what a form cannot hold is written as JSON."""
    edited = filled(filter='{\n  "a": 1,\n  "a": 2\n}')
    assert edited.faults[0].pointer == "/filter/a"
    assert edited.faults[0].message.startswith("Line 3:")


def test_a_name_the_form_does_not_have_is_refused() -> None:
    """IN-E58 AP-E3: tool, tenant, expiry, version and strange fields cannot be smuggled in."""
    base = dict(BASE)
    for name, pointer in [
        ("tool", ""),
        ("expires_at", ""),
        ("f:/tenant", "/tenant"),
        ("s:/tenant", "/tenant"),
        ("f:/limit", "/limit"),
    ]:
        sent = form_of(TOOL, base).posted("save") | {name: ["x"]}
        edited = read(sent, TOOL, base)
        assert [(fault.pointer, fault.rule) for fault in edited.faults] == [(pointer, "form")], name
        assert edited.value is None


def test_a_field_sent_twice_is_refused() -> None:
    """IN-E58: two amounts are none."""
    sent = form_of(TOOL, BASE).posted("save") | {"f:/amount": ["5", "5000"]}
    assert [fault.pointer for fault in read(sent, TOOL, BASE).faults] == ["/amount"]


def test_line_ends_come_back_as_they_were() -> None:
    """AP-E1: a browser sends CR LF for every line end; the arguments keep their own kind."""
    base = {"customer": "a\r\nb\r\n", "amount": 5, "note": "a\rb\nc"}
    form = form_of(TOOL, base)
    assert saved(form, TOOL, base).value == base
    form["f:/customer"] = "a\nc\n"
    assert saved(form, TOOL, base).value == {**base, "customer": "a\r\nc\r\n"}


def test_invisible_characters_are_taken_out_only_by_the_button() -> None:
    """RN-5 AP-X6: the field says where they are."""
    base = {**BASE, "note": "two pallets\u200b arrived"}
    one = control_of(base, "/note")
    assert (one.unseen, one.unseen_where) == (1, "U+200B, after “pallets”")
    assert saved(form_of(TOOL, base), TOOL, base).value == base
    assert (
        saved(pressed(form_of(TOOL, base), "clean:/note", TOOL, base), TOOL, base).value["note"]
        == "two pallets arrived"
    )


def test_a_long_description_is_cut_with_the_rest_at_hand() -> None:
    """IN-E63 RN-7: plain text, three hundred characters, and nothing lost."""
    one = control_of({**BASE, "limit": 1}, "/limit")
    assert len(one.description) == 300
    assert one.description + one.description_rest == ("How many. " * 60).strip()
    assert one.placeholder == "20"


def test_a_locked_field_is_shown_and_posts_nothing() -> None:
    """JS-9 IN-E48: the rule's sentence stands at it, and a forged name is refused there."""
    form = fields(TOOL, BASE, editable=["/amount"], rule="Rule refunds keeps this field as proposed.")
    locked = next(one for one in form.root.walk() if one.pointer == "/customer")
    assert (locked.control, locked.locked) == ("locked", "Rule refunds keeps this field as proposed.")
    drawn = form_of(TOOL, BASE, editable=["/amount"])
    assert [name for name in drawn.names() if "customer" in name] == []
    edited = read(drawn.posted("save") | {"f:/customer": ["Evil"]}, TOOL, BASE, editable=["/amount"])
    assert [(fault.pointer, fault.rule) for fault in edited.faults] == [("/customer", "locked")]


def test_a_list_that_is_closed_keeps_its_entries() -> None:
    """JS-9: one field of one entry is open, the rest stands still."""
    base = {**BASE, "lines": [{"sku": "a", "count": 1}, {"sku": "b", "count": 2}]}
    form = form_of(TOOL, base, editable=["/lines/1/count"])
    assert [do for _, do in form.buttons if do.startswith(("append", "remove", "add"))] == []
    form["f:/lines/1/count"] = "9"
    edited = saved(form, TOOL, base, editable=["/lines/1/count"])
    assert edited.value == {**BASE, "lines": [{"sku": "a", "count": 1}, {"sku": "b", "count": 9}]}
    sent = form.posted("save") | {"s:/lines": ["absent"]}
    assert [fault.rule for fault in read(sent, TOOL, base, editable=["/lines/1/count"]).faults] == ["locked"]


def test_the_return_key_and_other_buttons_save_nothing() -> None:
    """Only the button that says so saves; the return key looks the form over."""
    form = form_of(TOOL, BASE)
    assert form.buttons[0] == ("do", "check")
    assert [read(form.posted(do), TOOL, BASE).saves for do in ("check", "save", None)] == [False, True, False]


def test_an_amount_is_written_with_its_cents() -> None:
    """AP-X9 JS-8: the form shows euros and sends cents; 124000 would be in doubt and is refused."""
    tool = Tool(TOOL.schema, {"/amount": "/currency"})
    base = {"customer": "Acme", "amount": 5000, "currency": "eur"}
    form = form_of(tool, base)
    assert form["f:/amount"] == "50.00"
    form["f:/amount"] = "1240"
    assert saved(form, tool, base).faults[0].message == "Give an amount in EUR written out in full, such as 1,240.00."
    form["f:/amount"] = "12.40"
    assert saved(form, tool, base).value == {**base, "amount": 1240}


def test_a_text_with_the_character_zero_is_refused_at_its_field() -> None:
    """A browser cannot type it; a program can send it."""
    edited = filled(customer="Ac\x00me")
    assert [(each.pointer, each.rule) for each in edited.faults] == [("/customer", "text")]


def test_a_name_deeper_than_any_argument_is_unknown_and_costs_nothing() -> None:
    """IN-E13: three thousand levels took twelve seconds."""
    edited = read({"s:" + "/a" * 3000: ["new"], "do": ["save"]}, TOOL, BASE)
    assert edited.faults and edited.value is None
