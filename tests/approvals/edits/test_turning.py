"""Between form and JSON nothing is lost: the same change comes out, or it stays where it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.edits import Edited, Tool, read_raw, turning
from approvals.ledger import canonical
from tests.approvals.edits.test_form import BASE, GIVEN, TOOL
from tests.approvals.edits.tools import ANYTHING, drawn, form_of, objects, pressed, saved

WAY: dict[str, Any] = {"editable": None, "rule": "Closed.", "before": "Proposed"}


def typed(value: Any, tool: Tool = TOOL, base: Any = None) -> Edited:
    """What was written as JSON and not saved."""
    return read_raw(json.dumps(value), tool, BASE if base is None else base, save=False)


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 6},
        {"customer": "two\nlines", "currency": "usd", "express": True},
        {"emails": ["a", "b"], "lines": [{"sku": "x", "count": 1}]},
        {"who": {"kind": "team", "slug": "s"}, "labels": {"a": "b"}},
        {"note": None, "level": False, "filter": {"any": [1, {}]}},
        {},
    ],
)
def test_a_change_written_as_json_stands_in_the_form(change: dict[str, Any]) -> None:
    """And is what the form saves, from where it can be taken back to JSON."""
    wanted = BASE | change
    form = turning.to_form(typed(wanted), TOOL, BASE, **WAY)
    assert form is not None and form.form is not None
    assert saved(drawn(form.form), TOOL, BASE).value == wanted
    again = turning.to_text(form, TOOL, BASE)
    assert again is not None and json.loads(again.text) == wanted


def test_what_was_typed_into_the_form_stands_in_the_text() -> None:
    base = {**BASE, **GIVEN}
    form = form_of(TOOL, base)
    form["f:/amount"] = "77"
    text = turning.to_text(saved(form, TOOL, base), TOOL, base)
    assert text is not None and json.loads(text.text) == base | {"amount": 77}


def test_what_is_to_be_mended_stays_where_it_is() -> None:
    """AP-E2: neither way repairs or drops anything."""
    form = form_of(TOOL, BASE)
    form["f:/amount"] = "many"
    assert turning.to_text(saved(form, TOOL, BASE), TOOL, BASE) is None
    assert turning.to_form(typed(BASE | {"amount": 0}), TOOL, BASE, **WAY) is None
    assert turning.to_form(read_raw("{", TOOL, BASE, save=False), TOOL, BASE, **WAY) is None


def test_a_replaced_secret_is_never_shown_as_text() -> None:
    """WB-9: one that is kept goes along as its mark, a new one stays in the form."""
    tool = Tool({"type": "object", "properties": {"password": {"type": "string"}, "n": {"type": "integer"}}})
    base = {"password": "hunter2", "n": 1}
    form = form_of(tool, base)
    form["f:/n"] = "2"
    text = turning.to_text(saved(form, tool, base), tool, base)
    assert text is not None and "hunter2" not in text.text and text.value == base | {"n": 2}
    form = pressed(form, "replace:/password", tool, base)
    form["f:/password"] = "new"
    assert turning.to_text(saved(form, tool, base), tool, base) is None


@given(objects(), st.dictionaries(st.sampled_from(["a", "b"]), ANYTHING, max_size=2), st.data())
@settings(max_examples=60, deadline=None)
def test_any_change_comes_out_as_it_went_in_or_stays(pair: Any, new: dict[str, Any], data: st.DataObject) -> None:
    """AP-E1, AP-E4, JS-8: whatever the schema."""
    tool, base = Tool(pair[0]), pair[1]
    wanted = {name: data.draw(st.just(value) | ANYTHING) for name, value in base.items()} | new
    edited = typed(wanted, tool, base)
    form = turning.to_form(edited, tool, base, **WAY)
    if form is None or form.form is None:
        return
    assert canonical.encode(saved(drawn(form.form), tool, base).value) == canonical.encode(edited.value)
    again = turning.to_text(form, tool, base)
    assert again is None or canonical.encode(again.value) == canonical.encode(edited.value)
