"""Tools that people have to approve before an agent can propose them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import gate, policies, rows
from approvals.approvals import Approval
from approvals.people import Person
from runtime import definitions
from runtime.definitions import Offer, Tool
from tests.cast import POLICY, Cast, assemble, say

GUARDED = (
    POLICY
    + """
  - id: tools
    match: {kind: change, tool: change.tool}
    verdict: require_approval
    approvals: [{team: finance}]
"""
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "a": {"type": "string"}}}


@pytest.fixture
def cast(db: None) -> Cast:
    """Northwind, which has a tool, and a policy that wants every other one approved."""
    known = assemble()
    rows.enter(known.northwind)
    definitions.register_offers(known.northwind.pk, [offer("Sell")], by="system")
    policies.load(known.northwind, GUARDED, by="system")
    return known


def offer(description: str, **more: Any) -> Offer:
    document = {"name": "shop.sell", "title": "Sell", "description": description, "inputSchema": SCHEMA}
    return definitions.offer(
        document, kind="http", config={"url": "https://shop.example/sell"}, effect="keyed", risk="high", **more
    )


def wants(cast: Cast, offered: Offer, by: Person | None = None) -> Approval:
    change = definitions.of_tool(cast.northwind.pk, offered)
    held = gate.propose(cast.northwind, change, by=by or cast.omar, reason="The shop moved.")
    assert held.approval_id, held.reason
    return Approval.objects.get(pk__in=[rows.parse_id("apr", held.approval_id)])


def active(cast: Cast) -> tuple[int, str]:
    tool = definitions.tool_named(cast.northwind.pk, "shop.sell")
    assert tool is not None and tool.holds()
    return tool.version, tool.document["description"]


def test_a_tool_is_not_changed_by_one_person(cast: Cast) -> None:
    """AZ-9, BD-6: what stands unchanged may be taken in again, and nothing else."""
    definitions.register_offers(cast.northwind.pk, [offer("Sell")], by="system")
    with pytest.raises(gate.NeedsApproval, match="rule tools says so"):
        definitions.register_offers(cast.northwind.pk, [offer("Sell it all")], by="system")
    assert active(cast) == (1, "Sell")


def test_an_approved_tool_takes_the_place_of_the_one_before_it(cast: Cast) -> None:
    wanted = offer("Sell it all")
    approval = wants(cast, wanted)
    assert active(cast) == (1, "Sell")
    say(approval, cast.dana, "approve")
    tool = Tool.objects.get(is_active=True)
    assert active(cast) == (2, "Sell it all") and tool.document == wanted.definition and tool.order == wanted.order
    assert Approval.objects.get(pk=approval.pk).outcome == "executed"


def test_a_tool_that_changed_meanwhile_is_left_alone(cast: Cast) -> None:
    """People compared it with another one."""
    approval = wants(cast, offer("Sell it all"))
    with rows.within(cast.northwind):
        definitions.offers.put_in_force(cast.northwind.pk, offer("Sell some"), by="system")
    say(approval, cast.dana, "approve")
    approval.refresh_from_db()
    assert active(cast) == (2, "Sell some") and approval.outcome == "failed" and "another" in approval.outcome_note


def test_a_secret_is_nothing_that_people_approve(cast: Cast) -> None:
    with pytest.raises(ValueError, match="a secret cannot stand"):
        definitions.of_tool(cast.northwind.pk, offer("Sell it all", secret=b"x" * 32))


def test_the_command_takes_in_what_is_free_and_asks_for_the_rest(cast: Cast, tmp_path: Path) -> None:
    file, out = tmp_path / "tools.json", StringIO()
    tools = [{"name": name, "inputSchema": SCHEMA} for name in ("shop.buy", "shop.sell")]
    file.write_text(json.dumps({"tools": tools}))
    command = ("tools", "import", str(file), "--workspace", "northwind", "--url", "https://shop.example")
    with pytest.raises(CommandError, match="Say who wants it"):
        call_command(*command, stderr=StringIO())
    call_command(*command, "--as", cast.omar.email, stdout=out, stderr=StringIO())
    first, second, told = out.getvalue().splitlines()
    assert first.startswith("shop.buy: apr_") and second.startswith("shop.sell: apr_")
    assert told == "0 tools were taken in; 2 have to be approved first." and Tool.objects.count() == 1
