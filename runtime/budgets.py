"""Budgets: what a run may spend. Held before it is spent, settled after, and never lost by a crash.

A budget is a row of its own, named by the root run and outside the run's state: restoring, editing or forking a state
resets nothing. Four units: ``tokens``; ``money`` in minor units of ``currency`` (cents); ``steps``; and ``seconds`` of
wall time from the run's start, without the time that people took, to decide or to let a stopped run go on. A unit
without a cap is only counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import connection, models

from approvals import rows

SPENT: Final = ("tokens", "money")
"""The units that a call spends, and for which it may carry an estimate."""
UNITS: Final = (*SPENT, "steps", "seconds")
MOST: Final = 2**53 - 1


class Budget(rows.Row):
    """The caps of a run and what was used and held of them. ``held`` is what calls under way may still spend."""

    PREFIX = "bud"

    # Forks may draw on it after the root was deleted.
    root = models.OneToOneField("runtime.Run", models.DO_NOTHING, related_name="+", db_constraint=False)
    currency = models.CharField(max_length=3, blank=True)
    tokens_cap = models.PositiveBigIntegerField(null=True)
    tokens_used = models.PositiveBigIntegerField(default=0)
    tokens_held = models.PositiveBigIntegerField(default=0)
    money_cap = models.PositiveBigIntegerField(null=True)
    money_used = models.PositiveBigIntegerField(default=0)
    money_held = models.PositiveBigIntegerField(default=0)
    steps_cap = models.PositiveBigIntegerField(null=True)
    steps_used = models.PositiveBigIntegerField(default=0)
    seconds_cap = models.PositiveBigIntegerField(null=True)

    def __str__(self) -> str:
        return self.public_id


class Hold(rows.Row):
    """What one attempt may spend. It is settled with what was spent, or charged whole where nobody knows: once."""

    PREFIX = "hld"
    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {"held": frozenset({"settled", "charged"})}

    budget = models.ForeignKey(Budget, models.PROTECT, related_name="holds", db_constraint=False)
    attempt = models.OneToOneField("runtime.Attempt", models.PROTECT, related_name="hold", db_constraint=False)
    status = models.CharField(max_length=8, default="held")
    tokens = models.PositiveBigIntegerField(default=0)
    money = models.PositiveBigIntegerField(default=0)
    tokens_spent = models.PositiveBigIntegerField(default=0)
    money_spent = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["held", "settled", "charged"]), name="hold_status_is_known"
            )
        ]


class Exhausted(Exception):
    """The budget does not cover it: nothing was written. ``wanted`` is what was asked for."""

    def __init__(self, wanted: Mapping[str, int]) -> None:
        super().__init__("The budget does not cover it.")
        self.wanted = dict(wanted)


# Questions


def caps(given: Any) -> dict[str, Any]:
    """The caps that a definition or a start names, checked. Raises ValueError."""
    if not isinstance(given, Mapping) or not set(given) <= {*UNITS, "currency"}:
        raise ValueError(f"A budget is an object of {', '.join(UNITS)} and currency.")
    for unit in UNITS:
        if unit in given and not _counts(given[unit]):
            raise ValueError(f"budget.{unit} is a whole number, 0 or more.")
    currency = given.get("currency", "")
    if not isinstance(currency, str) or (currency and not (len(currency) == 3 and currency.isascii())):
        raise ValueError("budget.currency is a code of three letters.")
    if "money" in given and not currency:
        raise ValueError("budget.money needs budget.currency: it counts that currency's minor units.")
    return dict(given)


def tighter(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both budgets at once: of each unit the lower cap. Raises ValueError for two currencies."""
    currencies = {each["currency"] for each in (one, other) if each.get("currency")}
    if len(currencies) > 1:
        raise ValueError("budget.currency is not the currency of the agent's own budget.")
    both = {unit: min(each[unit] for each in (one, other) if unit in each) for unit in {*one, *other} & set(UNITS)}
    return both | ({"currency": currencies.pop()} if currencies else {})


def amounts(given: Any) -> dict[str, int]:
    """An estimate: whole numbers of tokens and money. Raises ValueError."""
    return {unit: count for unit, count in named(given).items() if count}


def named(given: Any) -> dict[str, int]:
    """A usage: whole numbers of tokens and money, also of none, which is not the same as no word on it. Raises
    ValueError."""
    if not isinstance(given, Mapping) or not set(given) <= set(SPENT) or not all(map(_counts, given.values())):
        raise ValueError(f"It counts {' and '.join(SPENT)} in whole numbers.")
    return dict(given)


def _counts(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def question_of(run: Any) -> str:
    """The subject under which people are asked to raise a run's budget, for the last time they were."""
    return f"{run.public_id}:budget:{run.budget_questions}"


def of(run: Any) -> Budget | None:
    """The budget on which a run draws."""
    return Budget.objects.filter(pk=run.budget_id).first() if run.budget_id else None


@dataclass(frozen=True)
class Share:
    """Where one unit of a budget stands. ``cap`` None: it is only counted."""

    unit: str
    cap: int | None
    used: int
    held: int

    def needs(self, more: int) -> int:
        """The lowest cap that would cover so much more."""
        return self.used + self.held + more


def shares(budget: Budget) -> list[Share]:
    """Where every unit stands."""
    spent = [
        Share(unit, getattr(budget, f"{unit}_cap"), getattr(budget, f"{unit}_used"), getattr(budget, f"{unit}_held"))
        for unit in SPENT
    ]
    steps = Share("steps", budget.steps_cap, budget.steps_used, 0)
    return [*spent, steps, Share("seconds", budget.seconds_cap, seconds_of(budget.root_id), 0)]


_SECONDS = "SELECT floor(extract(epoch FROM {} - created_at - waited))::bigint FROM runtime_run WHERE id = {}"


def seconds_of(root_id: UUID) -> int:
    """The seconds from the run's start until now, or its end, without those in which people were waited for."""
    with connection.cursor() as cursor:
        cursor.execute(_SECONDS.format("COALESCE(ended_at, placet_now())", "%s"), [root_id])
        row = cursor.fetchone()
    return max(int(row[0]), 0) if row else 0


# Verbs


def opened(workspace_id: UUID, root_id: UUID, given: Mapping[str, Any]) -> Budget:
    """Write the budget of a run that starts."""
    named = {f"{unit}_cap": given.get(unit) for unit in UNITS}
    return Budget.objects.create(
        workspace_id=workspace_id, root_id=root_id, currency=given.get("currency", ""), **named
    )


_COVERED = """
    UPDATE runtime_budget SET tokens_held = tokens_held + %(tokens)s, money_held = money_held + %(money)s,
        steps_used = steps_used + %(steps)s
    WHERE id = %(budget)s
        AND (tokens_cap IS NULL OR %(ending)s OR tokens_used + tokens_held + %(tokens)s <= tokens_cap)
        AND (money_cap IS NULL OR %(ending)s OR money_used + money_held + %(money)s <= money_cap)
        AND (steps_cap IS NULL OR %(steps)s = 0 OR steps_used + %(steps)s <= steps_cap)
        AND (seconds_cap IS NULL OR ({seconds}) < seconds_cap)
""".format(seconds=_SECONDS.format("placet_now()", "runtime_budget.root_id"))


def hold(budget_id: UUID, attempt: Any, estimate: Mapping[str, int]) -> None:
    """Set aside what an attempt may spend, in the transaction of its intent. Raises Exhausted: then it may not be
    sent."""
    _cover(budget_id, estimate)
    Hold.objects.create(workspace_id=attempt.workspace_id, budget_id=budget_id, attempt=attempt, **estimate)


def take_step(budget_id: UUID, usage: Mapping[str, int], *, ending: bool = False) -> None:
    """Count a step, in its transaction, and what the agent says it spent itself. Raises Exhausted, also where more was
    spent before than the caps allow, but for the step that ends the run: it spends nothing more."""
    _cover(budget_id, {"steps": 1}, ending=ending)
    _add(budget_id, {unit: usage.get(unit, 0) for unit in SPENT}, {})


def _cover(budget_id: UUID, wanted: Mapping[str, int], *, ending: bool = False) -> None:
    amounts = {unit: wanted.get(unit, 0) for unit in (*SPENT, "steps")}
    with connection.cursor() as cursor:
        cursor.execute(_COVERED, {"budget": budget_id, "ending": ending, **amounts})
        if cursor.rowcount != 1:
            raise Exhausted(wanted)


def settle(attempt_id: UUID, usage: Mapping[str, int] | None, *, nothing: bool = False) -> None:
    """Turn an attempt's hold into what it spent, unconditionally: what happened is recorded, also over the cap. Of a
    unit without a word on it the whole hold is charged, unless ``nothing`` can have happened."""
    held = Hold.objects.filter(attempt_id=attempt_id).first()
    if held is None:
        return
    whole = {unit: getattr(held, unit) for unit in SPENT}
    spent = (dict.fromkeys(SPENT, 0) if nothing else whole) | dict(usage or {})
    to = "settled" if usage or nothing else "charged"
    sets: dict[str, Any] = {f"{unit}_spent": spent[unit] for unit in SPENT}
    if rows.move(Hold, held.pk, frm="held", to=to, **sets):
        _add(held.budget_id, spent, whole)


def charge_lost(call_id: UUID) -> None:
    """Charge the holds of a call's attempts whose senders died: they may have spent all of it."""
    lost = Hold.objects.filter(attempt__call_id=call_id, status="held").exclude(attempt__outcome="")
    for attempt_id in lost.order_by("attempt__number").values_list("attempt_id", flat=True):
        settle(attempt_id, None)


def _add(budget_id: UUID, spent: Mapping[str, int], released: Mapping[str, int]) -> None:
    """What was used stops counting at MOST, which is as much as JSON can tell."""
    sets: dict[str, Any] = {}
    for unit in SPENT:
        used = models.F(f"{unit}_used") + spent.get(unit, 0)
        sets[f"{unit}_used"] = models.functions.Least(used, models.Value(MOST))
        sets[f"{unit}_held"] = models.F(f"{unit}_held") - released.get(unit, 0)
    Budget.objects.filter(pk=budget_id).update(**sets)


def raise_caps(budget_id: UUID, to: Mapping[str, int]) -> None:
    """Raise caps, in an open transaction. A cap that is higher by now stays."""
    for unit, cap in to.items():
        Budget.objects.filter(pk=budget_id, **{f"{unit}_cap__lt": cap}).update(**{f"{unit}_cap": cap})
