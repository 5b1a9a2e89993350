"""A form that nobody touches changes nothing; a form in which one thing is changed changes that and nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.edits import Tool, raw_text, read, read_raw
from approvals.edits.places import at
from approvals.edits.posted import unwired
from approvals.ledger import canonical
from tests.approvals.edits.tools import form_of, objects, pressed, saved

Pair = tuple[dict[str, Any], dict[str, Any]]
often = settings(max_examples=50, deadline=None)


@given(objects())
@often
def test_an_untouched_form_gives_the_same_bytes(pair: Pair) -> None:
    """AP-E1 AP-E4 AP-E5 WB-8 JS-8 JS-11 JS-12: types, numbers, null, absent and every character are as they were."""
    tool, value = Tool(pair[0]), pair[1]
    edited = saved(form_of(tool, value), tool, value)
    assert edited.faults == ()
    assert canonical.encode(edited.value) == canonical.encode(value)
    assert edited.changes == []


@given(objects(), st.data())
@often
def test_one_changed_text_arrives_alone(pair: Pair, data: st.DataObject) -> None:
    """AP-E1 JS-8: a text typed into one field stands at its pointer, and everything else is as it was."""
    tool, value = Tool(pair[0]), pair[1]
    form = form_of(tool, value)
    texts = [one for one in form.controls if one.kind == "area" and "code" not in one.classes]
    if not texts:
        return
    name = data.draw(st.sampled_from(texts)).name
    form[name] = "typed <here> & \u202e"
    edited = saved(form, tool, value)
    assert not edited.faults
    assert at(edited.value, _pointer(name)) == "typed <here> & \u202e"
    assert [change.pointer for change in edited.changes] == [_pointer(name)]


@given(objects(), st.data())
@often
def test_what_is_taken_out_is_gone_alone_and_can_be_put_back(pair: Pair, data: st.DataObject) -> None:
    """AP-E5: taking out a member leaves everything else as it was; putting it back leaves no change."""
    tool, value = Tool(pair[0]), pair[1]
    form = form_of(tool, value)
    buttons = [
        do for _, do in form.buttons if do.startswith("remove:") and f"i:{do.rpartition('/')[0][7:]}" not in form
    ]
    if not buttons:
        return
    do = data.draw(st.sampled_from(buttons))
    taken = read(form.posted(do), tool, value)
    assert not taken.faults
    assert [(change.kind, change.pointer) for change in taken.changes] == [("removed", _pointer(do)[5:])]
    back = pressed(form, do, tool, value).posted(do.replace("remove:", "reset:"))
    assert canonical.encode(read(back, tool, value).value) == canonical.encode(value)


@given(objects())
@often
def test_untouched_raw_json_gives_the_same_bytes(pair: Pair) -> None:
    """WB-8 WB-9 IN-E49: secrets come back from their marks, and so do values that look like marks."""
    tool, value = Tool(pair[0]), pair[1]
    text = raw_text(tool, value)
    for written in (text, text + " "):
        edited = read_raw(written, tool, value)
        assert edited.faults == ()
        assert canonical.encode(edited.value) == canonical.encode(value)


def _pointer(name: str) -> str:
    """The pointer in a control's name."""
    return unwired({name: []}).popitem()[0][2:]
