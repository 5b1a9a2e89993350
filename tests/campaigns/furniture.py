"""What the campaigns add to the refund desk: tools behind the recorder, a refund without a key, an agent that plays one
call; and how a run is begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.db import InterfaceError, OperationalError, connection

from approvals import gate, rows
from approvals.approvals import Approval
from runtime import definitions, runs
from runtime.children import until
from runtime.demo import catalogue, opening, services, shop, tickets
from runtime.demo.payments import secret_bytes
from runtime.runs import Run

if TYPE_CHECKING:
    from tests.campaigns.stage import Stage

T = TypeVar("T")
AGENT: Final = "player"
TEXT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
}
COUNTED: Final = {f"do_{effect}": effect for effect in ("pure", "keyed", "natural", "lookup", "unsafe")} | {
    "model": "pure"
}
"""Tools of every effect class behind the recorder, and the model that agents ask."""
NOTES: Final = {"slow": "pure", "note": "keyed", "pair": "keyed", "brief": "keyed"}


def furnish(stage: Stage) -> None:
    """Register tools and agent. Doing it again changes nothing."""
    workspace_id = workspace().pk
    for name, effect in NOTES.items():
        definition = {"name": f"campaign.{name}", "title": f"Note ({name})", "inputSchema": TEXT}
        where = {"url": f"http://{stage.recorder.address}/{name}"}
        definitions.register_tool(workspace_id, definition, kind="http", config=where, effect=effect, by="system")
    for name, effect in COUNTED.items():
        ours: dict[str, Any] = {"timeout_seconds": 5}
        if effect == "lookup":
            ours["lookup"] = {"url": f"http://{stage.recorder.address}/find/{{reference}}"}
        definition = {"name": f"campaign.{name}", "title": f"Count ({effect})", "inputSchema": TEXT, "placet": ours}
        where = {"url": f"http://{stage.recorder.address}/{name}"}
        definitions.register_tool(workspace_id, definition, kind="http", config=where, effect=effect, by="system")
    payments = services.payments(stage.home)
    definitions.register_tool(
        workspace_id,
        catalogue.CREATE_REFUND | {"name": "campaign.once", "title": "Refund without a key"},
        kind="http",
        config={"url": f"http://{payments.address}/tools/payments.create_refund"},
        effect="unsafe",
        secret=secret_bytes(payments.env["PAYMENTS_SECRET"]),
        by="system",
    )
    definitions.register_agent(workspace_id, AGENT, "scripted", {}, by="system")


def workspace() -> Any:
    """The workspace of the refund desk."""
    found = gate.workspace_named(opening.WORKSPACE)
    assert found is not None
    return found


def ticket(amount: int) -> dict[str, Any]:
    """A new ticket whose customer asks for so many cents, with a charge of its own."""
    return shop.add(tickets.home(), shop.ticket(tickets.home(), "T-4471"), amount=amount)


def refund_args(made: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the refund that a ticket asks for."""
    charge = made["charge"]
    return {
        "customer": made["customer"],
        "amount": made["asks"],
        "currency": charge["currency"],
        "charge": charge["id"],
        "reason": "goodwill",
    }


Call = tuple[str, dict[str, Any]]


def play(*calls: Call, key: str | None = None) -> Run:
    """Start a run whose agent proposes these calls, one after the other, on Riley's behalf."""
    return play_steps(*([call] for call in calls), key=key)


def play_steps(
    *steps: list[Call],
    key: str | None = None,
    budget: dict[str, Any] | None = None,
    estimates: dict[str, dict[str, int]] | None = None,
) -> Run:
    """The same with several calls in a step, a budget, and what calls of a tool may spend."""
    workspace_id = workspace().pk
    agent, riley = definitions.agent_named(workspace_id, AGENT), gate.person_named(opening.ASKS)
    assert agent is not None and riley is not None
    may = estimates or {}
    script = [[{"tool": tool, "args": args, "estimate": may.get(tool, {})} for tool, args in step] for step in steps]
    return runs.start(
        workspace_id,
        agent,
        input={"steps": script},
        title="A campaign",
        by=riley.public_id,
        requester_id=riley.pk,
        key=key,
        budget=budget,
    )


def held(chain: str, *, seconds: float = 60) -> str:
    """The approval that a run waits for, as soon as it does. Raises TimeoutError."""
    found: list[str] = []

    def asked() -> bool:
        found[:] = [each.public_id for each in Approval.objects.filter(chain=chain, status="pending")]
        return bool(found)

    if not until(lambda: stubbornly(asked), seconds=seconds, every=0.1):
        raise TimeoutError(f"{chain} asks nobody after {seconds:g} s.")
    return found[0]


def approval_named(public_id: str) -> Approval | None:
    """The approval of this public id."""
    key = rows.parse_id(Approval.PREFIX, public_id)
    return Approval.objects.filter(pk=key).first() if key else None


def stubbornly(ask: Callable[[], T], *, seconds: float = 60) -> T:
    """Ask the database until it answers, over restarts; raises the last error when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
