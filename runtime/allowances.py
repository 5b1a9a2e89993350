"""Allowances: what of budgets can be proved. A writer of the database could lift every cap, or forget what was used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.db import connection

from approvals import rows
from approvals.ledger import canonical
from approvals.ledger.entries import Entry
from runtime import checkpoints
from runtime.budgets import MOST, UNITS, Budget
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run

_AT_ONCE: Final = 500


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every budget that is not what the ledger and the checkpoints say, and for every run that does not
    draw on its own."""
    yield from _caps(workspace_id)
    with connection.cursor() as cursor:
        cursor.execute(_FORGOTTEN, {"workspace": workspace_id, "most": MOST})
        for (root_id,) in cursor.fetchall():
            yield f"less is used of the budget of {rows.public_id(Run.PREFIX, root_id)} than was spent."


_FORGOTTEN: Final = """
    SELECT b.root_id FROM runtime_budget b
    CROSS JOIN LATERAL (
        SELECT count(*) AS steps, coalesce(sum((k.usage->>'tokens')::numeric), 0) AS tokens,
            coalesce(sum((k.usage->>'money')::numeric), 0) AS money
        FROM runtime_run r JOIN runtime_checkpoint k ON k.run_id = r.id
        WHERE r.budget_id = b.id AND k.kind = 'step') said
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(tokens_spent), 0) AS tokens, coalesce(sum(money_spent), 0) AS money
        FROM runtime_hold WHERE budget_id = b.id AND status <> 'held') paid
    WHERE b.workspace_id = %(workspace)s AND (b.steps_used < said.steps
        OR b.tokens_used < LEAST(said.tokens + paid.tokens, %(most)s)
        OR b.money_used < LEAST(said.money + paid.money, %(most)s))
    ORDER BY b.created_at
"""
"""One statement, for one look: a step and what is used of the budget change together. Both stop counting at MOST."""


def _caps(workspace_id: UUID) -> Iterator[str]:
    """Caps against what a run was started with and what people raised since. Entries of old do not say the caps."""
    caps: dict[str, dict[str, int]] = {}
    kinds = ["run.started", "budget.raised"]
    found = Entry.objects.filter(workspace_id=workspace_id, kind__in=kinds).order_by("chain_id", "seq")
    for body in found.values_list("body", flat=True).iterator(_AT_ONCE):
        entry: dict[str, Any] = canonical.parse(bytes(body))
        if entry["kind"] == "run.started":
            caps[entry["chain"]] = dict(entry.get("budget", {}))
        else:
            known = caps.setdefault(entry["chain"], {})
            known |= {unit: max(cap, known.get(unit, 0)) for unit, cap in entry["caps"].items()}
    for budget in Budget.objects.filter(workspace_id=workspace_id).order_by("created_at"):
        chain = rows.public_id(Run.PREFIX, budget.root_id)
        if told := caps.get(chain):
            here = {unit: cap for unit in UNITS if (cap := getattr(budget, f"{unit}_cap")) is not None}
            if here != {unit: cap for unit, cap in told.items() if unit in UNITS}:
                yield f"the caps of {chain} are not those that its ledger gave it."
    yield from _detached(workspace_id, caps)


def _detached(workspace_id: UUID, caps: dict[str, dict[str, int]]) -> Iterator[str]:
    """Runs that draw on no budget though they were started with caps, or on that of another."""
    drawing = Run.objects.filter(workspace_id=workspace_id).order_by("created_at")
    for key, budget_id, root_id in drawing.values_list("pk", "budget_id", "budget__root_id").iterator(_AT_ONCE):
        name = rows.public_id(Run.PREFIX, key)
        if (caps.get(name) or budget_id) and root_id != key:
            yield f"{name} does not draw on its own budget."


def estimates(body: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """What the calls that a checkpoint proposed may spend, by their public ids."""
    return {entry["id"]: entry.get("estimate", {}) for entry in body.get("calls", [])}


def lowered(run_id: UUID, said: Mapping[str, dict[str, int]]) -> Iterator[str]:
    """A sentence for every call of a run that may spend something else than its step said."""
    if not said:
        return
    for key, estimate in Call.objects.filter(run_id=run_id).order_by("step", "idx").values_list("pk", "estimate"):
        name = rows.public_id(Call.PREFIX, key)
        if said.get(name, estimate) != estimate:
            yield f"{name} is said to spend {estimate}, and by its checkpoint {said[name]}."


def check(call: Call) -> None:
    """Before a call is sent: its estimate is that of its step. Raises Unreadable."""
    step = Checkpoint.objects.filter(run_id=call.run_id, seq=call.step).first()
    with suppress(checkpoints.Erased):
        said = estimates(checkpoints.sealed_body_of(step)) if step else {}
        for fault in lowered(call.run_id, said):
            raise checkpoints.Unreadable(fault)
