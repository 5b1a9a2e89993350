"""The parts of a form that come and go: fields, entries of lists and maps, and the branches of a choice."""

from __future__ import annotations

import pytest

from approvals.edits import read
from approvals.edits.places import at
from tests.approvals.edits.test_form import BASE, TOOL, control_of
from tests.approvals.edits.tools import form_of, pressed, saved


def test_optional_fields_are_added_and_taken_out_by_buttons() -> None:
    """AP-E5 JS-11: absent is not empty, and a default is only told."""
    form = form_of(TOOL, BASE)
    assert "f:/limit" not in form
    form = pressed(form, "add:/limit", TOOL, BASE)
    assert form["f:/limit"] == ""
    assert saved(form, TOOL, BASE).faults[0].message == "Give a whole number."
    form["f:/limit"] = "7"
    assert saved(form, TOOL, BASE).value == {**BASE, "limit": 7}
    form = pressed(form, "remove:/limit", TOOL, BASE)
    assert saved(form, TOOL, BASE).value == BASE


def test_null_text_and_absence_are_three_things() -> None:
    """AP-E5: each is chosen by a control, never by leaving a box empty."""
    base = {**BASE, "note": "hello"}
    form = form_of(TOOL, base)
    form["s:/note"] = "1"
    assert saved(form, TOOL, base).value == {**BASE, "note": None}
    form = form_of(TOOL, base)
    form["f:/note"] = ""
    assert saved(form, TOOL, base).value == {**BASE, "note": ""}
    assert saved(pressed(form, "remove:/note", TOOL, base), TOOL, base).value == BASE


def test_entries_are_added_and_removed_with_everything_else_kept() -> None:
    """AP-E1: what was typed before the button is still there after it."""
    base = {**BASE, "emails": ["a@x.example", "b@x.example", "c@x.example"]}
    form = form_of(TOOL, base)
    form["f:/emails/2"] = "changed@x.example"
    form["f:/customer"] = "Acme GmbH"
    form = pressed(pressed(form, "remove:/emails/0", TOOL, base), "append:/emails", TOOL, base)
    form["f:/emails/2"] = "new@x.example"
    edited = saved(form, TOOL, base)
    assert edited.value == {
        "customer": "Acme GmbH",
        "amount": 5,
        "emails": ["b@x.example", "changed@x.example", "new@x.example"],
    }
    assert control_of(base, "/emails").counted == "3 of at most 5"


def test_objects_in_a_list_are_filled_field_by_field() -> None:
    """AP-E1 AP-E2: a new line begins with its required fields, and a fault names its place."""
    base = {**BASE, "lines": [{"sku": "a", "count": 1}]}
    form = pressed(form_of(TOOL, base), "append:/lines", TOOL, base)
    form["f:/lines/1/sku"] = "b"
    assert [fault.pointer for fault in saved(form, TOOL, base).faults] == ["/lines/1/count"]
    form["f:/lines/1/count"] = "3"
    assert saved(form, TOOL, base).value == {**BASE, "lines": [{"sku": "a", "count": 1}, {"sku": "b", "count": 3}]}


def test_maps_take_new_names() -> None:
    """IN-E9 IN-E12: any plain name once; with slashes too."""
    base = {**BASE, "labels": {"a/b": "c"}}
    form = form_of(TOOL, base)
    form["k:/labels"] = "x/y~"
    form = pressed(form, "insert:/labels", TOOL, base)
    form["f:/labels/x~1y~0"] = "z"
    assert saved(form, TOOL, base).value == {**BASE, "labels": {"a/b": "c", "x/y~": "z"}}


@pytest.mark.parametrize(
    ("name", "told"), [("", "Give the new entry a name"), ("a\u200b", "invisible"), ("old", "already")]
)
def test_a_name_that_cannot_be_is_refused_at_once(name: str, told: str) -> None:
    """IN-E9: and what was typed is kept."""
    base = {**BASE, "labels": {"old": "1"}}
    form = form_of(TOOL, base)
    form["k:/labels"] = name
    sent = form.posted("insert:/labels")
    edited = read(sent, TOOL, base)
    assert told in edited.faults[0].message
    assert edited.faults[0].pointer == "/labels"


def test_another_branch_of_a_choice_can_be_taken() -> None:
    """AP-E1: the value says which is drawn; the other brings its own fields."""
    base = {**BASE, "who": {"kind": "user", "id": 7}}
    form = form_of(TOOL, base)
    assert list(form.control("s:/who").options.values()) == ['kind "user"', 'kind "team"']
    form["s:/who"] = "1"
    form = pressed(pressed(form, "draw", TOOL, base), "add:/who/slug", TOOL, base)
    form["f:/who/slug"] = "finance"
    assert saved(form, TOOL, base).value == {**BASE, "who": {"kind": "team", "slug": "finance"}}


def test_kinds_of_a_plain_value_can_be_changed() -> None:
    """AP-E1: "10" becomes 10 only by a choice."""
    base = {**BASE, "level": "10"}
    form = form_of(TOOL, base)
    form["s:/level"] = "1"
    assert saved(form, TOOL, base).value == {**BASE, "level": 10}
    assert saved(form_of(TOOL, base), TOOL, base).value == base


def test_recursion_unfolds_by_the_value() -> None:
    """IN-E18: a tree of three is a form of three, and grows by a button."""
    base = {**BASE, "tree": {"name": "a", "children": [{"name": "b", "children": []}]}}
    form = pressed(form_of(TOOL, base), "append:/tree/children/0/children", TOOL, base)
    form = pressed(form, "add:/tree/children/0/children/0/name", TOOL, base)
    form["f:/tree/children/0/children/0/name"] = "c"
    assert at(saved(form, TOOL, base).value, "/tree/children/0/children/0") == {"name": "c"}
