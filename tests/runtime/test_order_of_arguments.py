"""People see a tool's arguments in the order in which its author wrote them."""

from __future__ import annotations

from typing import Any

from approvals.approvals import Approval
from approvals.edits import Tool, fields, shapes
from approvals.edits.unfolding import alternatives
from runtime import definitions
from tests.runtime.conftest import Desk, call

WRITTEN = ["n", "zone", "middle", "a_long_name", "b"]
CHILD = {"type": "object", "properties": {"y": {"type": "string"}, "x": {"type": "string"}}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer"}, "zone": {"type": "string"}, "middle": CHILD, "a_long_name": {}, "b": {}},
}


def _registered(desk: Desk, schema: dict[str, Any]) -> Any:
    definition = {"name": "asked.keyed", "inputSchema": schema}
    how: dict[str, Any] = {"kind": "function", "config": {"function": "tests.runtime.tooling.asked.keyed"}}
    return definitions.register_tool(desk.cast.northwind.pk, definition, effect="keyed", by="system", **how)


def _reordered() -> dict[str, Any]:
    return {**SCHEMA, "properties": dict(reversed(SCHEMA["properties"].items()))}


def test_form_and_page_keep_the_order_of_the_author(desk: Desk) -> None:
    """Canonical bytes sort the names and the database sorts them otherwise; the order is kept beside both."""
    _registered(desk, SCHEMA)
    desk.begin([call("asked.keyed", 1, b=2, a_long_name=3, middle={"x": "1", "y": "2"}, zone="z")])
    approval = Approval.objects.get()
    form = fields(Tool(approval.schema), {"n": 1, "b": 2, "a_long_name": 3, "middle": {"x": "", "y": ""}, "zone": "z"})
    assert [one.view.name for one in form.fields] == WRITTEN
    assert [one.view.name for one in form.fields[2].children] == ["y", "x"]


def test_the_order_is_no_part_of_the_definition(desk: Desk) -> None:
    """A server that lists its arguments in another order offers the same tool: nobody is asked again."""
    first, again = _registered(desk, SCHEMA), _registered(desk, _reordered())
    assert (first.pk, first.digest) == (again.pk, again.digest)
    again.refresh_from_db()
    shown = definitions.facts(again)
    assert shapes.names(shown.schema) == ["n", *WRITTEN[:0:-1]]


def test_an_order_that_is_none_hides_nothing() -> None:
    """Whatever stands there: every member is shown once."""
    for told in ("b", [1, None], ["b", "b", "gone"], {"a": 1}, None):
        node: dict[str, Any] = {"properties": {"a": {}, "b": {}}, "x-placet-order": told}
        assert sorted(shapes.names(node)) == ["a", "b"]


def test_joined_objects_keep_both_orders() -> None:
    parts = [{"properties": {"a": {}, "b": {}}, "x-placet-order": ["b", "a"]}]
    node = {"type": "object", "properties": {"d": {}, "c": {}}, "x-placet-order": ["d", "c"], "allOf": parts}
    assert shapes.names(alternatives(node, node)[0]) == ["b", "a", "d", "c"]
