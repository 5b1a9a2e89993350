"""Spending: a run whose budget does not cover what it wants next asks people to raise the cap, and is not failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from approvals import gate, rows
from approvals.ledger import canonical, entries
from runtime import budgets, leases, runs
from runtime.budgets import Budget
from runtime.checkpoints import Unreadable
from runtime.definitions import Agent
from runtime.leases import Lease
from runtime.runs import Run

KIND: Final = "budget"
NAMES: Final = {"tokens": "Tokens", "money": "Money", "steps": "Steps", "seconds": "Seconds"}


class NotRaised(Exception):
    """Nobody raises the cap; the message says so in our words, and ``said`` is what a person said of it."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.said = said


def attend(lease: Lease, wanted: Mapping[str, int]) -> bool:
    """Ask people to raise the caps that do not cover what is wanted, or do what they said. False while they are
    awaited. Raises NotRaised, LeaseLost, CancelWanted, and Unreadable for an answer that cannot be proved."""
    with rows.within(lease.workspace_id):
        run = Run.objects.get(pk=lease.run_id)
        said = gate.resolution(lease.workspace_id, budgets.question_of(run)) if run.budget_question else None
    if not run.budget_question:
        _ask(lease, run, wanted)
        return False
    if said is None:
        return False
    if said.status == "approved":
        _raise(lease, run, said)
        return True
    _forget(lease, run)
    if said.status == "rejected":
        raise NotRaised("The budget is used up, and it is not raised.", said.message)
    raise NotRaised("The budget is used up, and nobody raised it in time.")


# Asking


def _ask(lease: Lease, run: Run, wanted: Mapping[str, int]) -> None:
    number = run.budget_questions + 1
    with rows.within(lease.workspace_id):
        asked = _question(lease, run, number, wanted)

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease)
            held = gate.ask(asked, by="system")
            if held.approval_id is None:
                raise NotRaised(held.reason)
            Run.objects.filter(pk=run.pk).update(budget_questions=number, budget_question=held.approval_id)

    leases.durably(lease, write, Run.objects.filter(pk=run.pk, budget_questions=number).exists)


def _question(lease: Lease, run: Run, number: int, wanted: Mapping[str, int]) -> gate.Asked:
    """The new caps as the value that people may edit, none of them lower than what is needed now."""
    budget = Budget.objects.get(runs=run)
    short = {
        share.unit: share
        for share in budgets.shares(budget)
        if share.cap is not None and share.needs(_more(share.unit, wanted)) > share.cap
    }
    properties = {unit: _property(share, _more(unit, wanted), budget.currency) for unit, share in short.items()}
    value = {unit: _offered(share, properties[unit]["minimum"]) for unit, share in short.items()}
    names = " and ".join(NAMES[unit].lower() for unit in short) or "budget"
    return gate.Asked(
        workspace_id=lease.workspace_id,
        subject=f"{run.public_id}:budget:{number}",
        chain=lease.public_id,
        agent=Agent.objects.get(pk=lease.agent_id).name,
        agent_id=rows.public_id(Agent.PREFIX, lease.agent_id),
        kind=KIND,
        title=f"Raise the cap on {names}?",
        summary=f"Raise the cap on {' and '.join(_sentence(unit, budget.currency) for unit in short)}?"
        if short
        else "",
        value=canonical.encode(value),
        schema={
            "type": "object",
            "additionalProperties": False,
            "required": sorted(value),
            "properties": properties,
        },
        allowed_decisions=("approve", "edit", "reject"),
        editable=tuple(f"/{unit}" for unit in value),
        context={
            "reason": "",
            "messages": [],
            "title": runs.unseal_title(run.workspace_id, run.pk, lease.title),
            "budget": [_stand(share, _more(share.unit, wanted), budget.currency) for share in short.values()],
        },
        requester_id=lease.requester_id,
        rehearsal=lease.rehearsal,
    )


def _sentence(unit: str, currency: str) -> str:
    filters = f"money:{currency}" if unit == "money" else "count"
    return f"{NAMES[unit].lower()} to {{/{unit}|{filters}}}"


def _stand(share: budgets.Share, more: int, currency: str) -> dict[str, Any]:
    """Where a unit stands that is asked about, as people are shown it."""
    told = {"unit": share.unit, "cap": share.cap, "used": share.used, "held": share.held, "wanted": more}
    return told | {"currency": currency if share.unit == "money" else ""}


def _offered(share: budgets.Share, least: int) -> int:
    """The cap that is offered: twice what it is, or what is needed if that is more; of the time as much again, since it
    goes on while people think."""
    cap = share.cap or 0
    return max(2 * cap, least + cap if share.unit == "seconds" else least)


def _more(unit: str, wanted: Mapping[str, int]) -> int:
    """What is wanted of a unit; of the time always another second, since it goes on by itself."""
    return 1 if unit == "seconds" else wanted.get(unit, 0)


def _property(share: budgets.Share, more: int, currency: str) -> dict[str, Any]:
    named = f"Money, in minor units of {currency}" if share.unit == "money" else NAMES[share.unit]
    told = f"The cap is {share.cap:,} now; {share.used:,} used, {share.held:,} held, {more:,} more wanted."
    least = share.needs(more)
    return {"type": "integer", "title": named, "description": told, "minimum": least, "maximum": budgets.MOST}


# What was said


def _raise(lease: Lease, run: Run, said: gate.Resolution) -> None:
    with rows.within(lease.workspace_id):
        cleared = gate.clearance(lease.workspace_id, said.subject, said.digest or "")
    if isinstance(cleared, gate.NotCleared):
        if cleared.code == "tampered":
            raise Unreadable(cleared.message)
        # Whoever raised it may not do so any more: it is asked again.
        _forget(lease, run)
        return
    raised: dict[str, int] = canonical.parse(cleared.args)

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease, attempts=0, budget_question="")
            budgets.raise_caps(lease.budget_id, raised) if lease.budget_id else None
            body: dict[str, Any] = {"caps": raised, "approval": said.approval_id, "digest": said.digest or ""}
            entries.append(lease.workspace_id, lease.public_id, "budget.raised", body, by="system")

    leases.durably(lease, write, Run.objects.filter(pk=run.pk, budget_question="").exists)


def _forget(lease: Lease, run: Run) -> None:
    """The question has had its answer; the next time is another question."""

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease, budget_question="")

    leases.durably(lease, write, Run.objects.filter(pk=run.pk, budget_question="").exists)
