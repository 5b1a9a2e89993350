"""Spending: a run whose budget does not cover what it wants next asks people to raise the cap, and is not failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from approvals import gate, rows
from approvals.ledger import canonical, entries
from runtime import budgets, leases, runs
from runtime.budgets import Budget
from runtime.calls import Call
from runtime.checkpoints import Unreadable
from runtime.crashpoints import reach
from runtime.definitions import Agent
from runtime.leases import Lease
from runtime.runs import Run

KIND: Final = "budget"
NOTHING_ASKED: Final[dict[str, Any]] = {"budget_question": "", "budget_for": []}
"""What a run's row says while nobody is asked about its budget."""
NAMES: Final = {"tokens": "Tokens", "money": "Money", "steps": "Steps", "seconds": "Seconds"}


class NotRaised(Exception):
    """Nobody raises the cap; the message says so in our words, and ``said`` is what a person said of it."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.said = said


def attend_calls(lease: Lease, short: Mapping[UUID, Mapping[str, int]]) -> bool:
    """The same as `attend` for calls, by what each of them may spend."""
    wanted = Counter[str]()
    for amounts in short.values():
        wanted.update(amounts)
    return attend(lease, wanted, [rows.public_id(Call.PREFIX, key) for key in short])


def attend_step(lease: Lease, wanted: Mapping[str, int]) -> bool:
    """The same as `attend` for the run's next step."""
    return attend(lease, wanted, [_step(lease)])


def attend(lease: Lease, wanted: Mapping[str, int], what: list[str]) -> bool:
    """Ask people to raise the caps that do not cover what is wanted, or do what they said. False while they are
    awaited. A "no" holds for ``what`` they were asked about, and for nothing else; it stays until that has been carried
    out. Raises NotRaised, LeaseLost, CancelWanted, and Unreadable for an answer that cannot be proved."""
    with rows.within(lease.workspace_id):
        run = Run.objects.get(pk=lease.run_id)
        said = gate.resolution(lease.workspace_id, budgets.question_of(run)) if run.budget_question else None
    if said and said.status == "approved":
        _raise(lease, run, said)
        return True
    if run.budget_question and not (set(what) == set(run.budget_for) or (said and set(what) < set(run.budget_for))):
        drop(lease)
        run.budget_question, said = "", None
    if not run.budget_question:
        _ask(lease, run, wanted, what)
        return False
    if said is None:
        return False
    reach("refuse.before")
    if said.status == "rejected":
        raise NotRaised("The budget is used up, and it is not raised.", said.message)
    raise NotRaised("The budget is used up, and nobody raised it in time.")


def _step(lease: Lease) -> str:
    return f"step:{lease.head_seq + 1}"


# Asking


def _ask(lease: Lease, run: Run, wanted: Mapping[str, int], what: list[str]) -> None:
    number = run.budget_questions + 1
    with rows.within(lease.workspace_id):
        asked = _question(lease, run, number, wanted)

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease)
            held = gate.ask(asked, by="system")
            if held.approval_id is None:
                raise NotRaised(held.reason)
            named = {"budget_question": held.approval_id, "budget_for": what}
            Run.objects.filter(pk=run.pk).update(budget_questions=number, **named)

    leases.durably(lease, write, Run.objects.filter(pk=run.pk, budget_questions=number).exists)


def _question(lease: Lease, run: Run, number: int, wanted: Mapping[str, int]) -> gate.Asked:
    """The new caps as the value that people may edit, none of them lower than what is needed now. Raises NotRaised
    where no cap could be that high."""
    budget = Budget.objects.get(runs=run)
    short = {
        share.unit: share
        for share in budgets.shares(budget)
        if share.cap is not None and share.needs(_more(share.unit, wanted)) > share.cap
    }
    if any(share.needs(_more(unit, wanted)) > budgets.MOST for unit, share in short.items()):
        raise NotRaised("The budget is used up, and no cap could cover what is wanted.")
    properties = {unit: _property(share, _more(unit, wanted), budget.currency) for unit, share in short.items()}
    value = {unit: _offered(share, properties[unit]["minimum"]) for unit, share in short.items()}
    names = " and ".join(NAMES[unit].lower() for unit in short) or "budget"
    return gate.Asked(
        workspace_id=lease.workspace_id,
        subject=f"{run.public_id}:budget:{number}",
        chain=lease.public_id,
        agent=lease.agent,
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
    goes on while people think. Never more than a cap can be."""
    cap = share.cap or 0
    return min(budgets.MOST, max(2 * cap, least + cap if share.unit == "seconds" else least))


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
        drop(lease)
        return
    raised: dict[str, int] = canonical.parse(cleared.args)

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease, attempts=0, **NOTHING_ASKED)
            budgets.raise_caps(lease.budget_id, raised) if lease.budget_id else None
            body: dict[str, Any] = {"caps": raised, "approval": said.approval_id, "digest": said.digest or ""}
            entries.append(lease.workspace_id, lease.public_id, "budget.raised", body, by="system")

    leases.durably(lease, write, Run.objects.filter(pk=run.pk, budget_question="").exists)


# What is not short any more


def drop(lease: Lease, *, but_for_the_step: bool = False) -> None:
    """Ask no more, and forget what was said: the next shortage is another question. With ``but_for_the_step`` a
    question about the run's next step stays."""

    def write() -> None:
        with rows.within(lease.workspace_id):
            withdraw(lease, kept=[_step(lease)] if but_for_the_step else None)

    leases.durably(lease, write, Run.objects.filter(pk=lease.run_id, budget_question="").exists)


def withdraw(lease: Lease, *, kept: list[str] | None = None) -> None:
    """The same in an open transaction, before the run is locked, whose question is an approval: the one order of
    locks. Raises LeaseLost, CancelWanted."""
    run = Run.objects.filter(pk=lease.run_id).exclude(budget_question="").first()
    if run is None or run.budget_for == kept:
        return
    told = "Nothing is short of it any more."
    subject = budgets.question_of(run)
    gate.withdraw(lease.workspace_id, lease.public_id, by="system", reason=told, subject=subject)
    leases.prove(lease, **NOTHING_ASKED)
