"""A run as its page tells it: steps with their calls, people and machine in one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.utils.dateparse import parse_datetime

from approvals import gate, rows
from runtime import budgets, events, failures, halts
from runtime.attempts import Attempt
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from runtime.uses import WORDS, Use, use_of

Entry = Mapping[str, Any]

TONES: Final = {
    "run.failed": "bad",
    "run.parked": "wait",
    "call.refused": "bad",
    "decision.reject": "bad",
    "decision.stop": "bad",
    "decision.retract": "void",
    "decision.override": "wait",
    "call.waits": "wait",
    "outcome.executed": "good",
    "outcome.failed": "bad",
    "outcome.unknown": "wait",
}
SILENT: Final = frozenset(
    {
        "approval.opened",
        "approval.revised",
        "approval.approved",
        "approval.answered",
        "approval.rejected",
        "approval.stopped",
        "call.ruled",
        "call.settled",
        "preview.made",
        "run.completed",
    }
)
"""Entries that another line tells already: the step that asked, the person who decided, the run's own end."""
STOPS: Final = frozenset({"breakpoint", "budget", "outcome"})
"""Kinds of approvals that no step asks for: that people are asked is a line of its own."""


@dataclass
class Event:
    """One line of the page. ``kind`` names the words that the template has, ``approved`` a yes in the same line."""

    kind: str
    when: datetime | None
    who: str = ""
    initials: str = ""
    tone: str = ""
    step: int = 0
    checkpoint: Checkpoint | None = None
    uses: list[Use] = field(default_factory=list)
    use: Use | None = None
    entry: Entry = field(default_factory=dict)
    approved: bool = False

    @property
    def about(self) -> str:
        """What kind of matter beside calls an entry of the ledger is about, by its subject; empty for a call."""
        kind = str(self.entry.get("subject", "")).partition(":")[2].partition(":")[0]
        return kind if kind in {*STOPS, "question"} else ""

    @property
    def note(self) -> str:
        """What the last sending of a call left behind, where this line tells how that ended."""
        told = {"outcome.failed": "failed", "outcome.unknown": "unknown"}.get(self.kind)
        last = self.use.last if self.use and self.use.call.status == told else None
        return last.note if last else ""

    @property
    def node(self) -> str:
        """The step's name in words."""
        name = self.checkpoint.node if self.checkpoint else ""
        return "" if name.isdigit() else name.replace("_", " ").replace("-", " ").strip().capitalize()


@dataclass(frozen=True)
class Meter:
    """One capped unit of a budget, and how much of the cap is used and held, in hundredths."""

    share: budgets.Share
    currency: str

    @property
    def used(self) -> float:
        return round(100 * min(1, self.share.used / max(1, self.share.cap or 0)), 1)

    @property
    def held(self) -> float:
        return round(min(100 - self.used, 100 * self.share.held / max(1, self.share.cap or 0)), 1)

    @property
    def used_of_300(self) -> int:
        """In units of the drawing, which are whole: a page never says 12,5."""
        return round(3 * self.used)

    @property
    def held_of_300(self) -> int:
        return round(3 * self.held)


class Narrative:
    """Everything that the page of a run tells. Reads only; ``with_state`` adds which checkpoint each change is in."""

    def __init__(self, run: Run, *, with_state: bool) -> None:
        self.run, self.with_state = run, with_state
        told = events.events(run)
        self.entries = [each.entry for each in told if each.entry is not None]
        steps = [each.checkpoint for each in told if each.kind == "step.committed"]
        self.checkpoints = [each for each in steps if each is not None]
        passed = Checkpoint.objects.filter(run=run, kind=Checkpoint.Kind.DECISION).defer("body")
        self.passed = {bytes(each.mac).hex(): each for each in passed} if with_state else {}
        self.uses = self._uses()
        self.names = gate.names(_people(self.entries, run))

    def _uses(self) -> dict[str, Use]:
        rules, chosen = _rules(self.entries), _chosen(self.entries)
        attempts: dict[UUID, list[Attempt]] = {}
        for attempt in Attempt.objects.filter(call__run=self.run).order_by("number"):
            attempts.setdefault(attempt.call_id, []).append(attempt)
        found = Call.objects.filter(run=self.run).select_related("tool").order_by("step", "idx")
        masked = gate.masked(self.run.workspace_id, self.run.public_id)
        return {
            each.subject: use_of(
                each,
                rules.get(each.subject, ""),
                attempts.get(each.pk, []),
                chosen.get(each.public_id, ""),
                masked=masked,
            )
            for each in found
        }

    def events(self) -> list[Event]:
        """The lines in order, the open one last."""
        lines = [*self._steps(), *self._ended(), *self._told()]
        told = sorted(lines, key=lambda event: event.when or self.run.created_at)
        return [*_merged(told), *self._now()]

    def _steps(self) -> Iterator[Event]:
        uses: dict[int, list[Use]] = {}
        for use in self.uses.values():
            uses.setdefault(use.call.step, []).append(use)
        for number, checkpoint in enumerate(self.checkpoints, 1):
            mine = uses.get(checkpoint.seq, [])
            yield Event("step", checkpoint.created_at, step=number, checkpoint=checkpoint, uses=mine)

    def _told(self) -> Iterator[Event]:
        for told in self.entries:
            entry, kind = failures.with_words(self.run, told), _kind(told)
            if kind in SILENT and entry.get("approval_kind") not in STOPS:
                continue
            use = self.uses.get(str(entry.get("subject") or entry.get("call") or ""))
            if _told_by_step(kind, entry, use):
                continue
            who = self.name(str(entry.get("by", "")))
            when = parse_datetime(str(entry["at"]))
            made = self.passed.get(str(entry.get("checkpoint_mac", ""))) if kind == "breakpoint.passed" else None
            tone = TONES.get(kind, "")
            yield Event(kind, when, who, who[:1].upper(), tone, checkpoint=made, use=use, entry=entry)

    def _ended(self) -> Iterator[Event]:
        if self.run.status == "completed":
            yield Event("run.completed", self.run.ended_at, tone="good")

    def _now(self) -> Iterator[Event]:
        run = self.run
        if run.status in {"suspended_approval", "requires_action"}:
            waiting = [use for use in self.uses.values() if use.call.status in {"held", "unknown"}]
            stop = Breakpoint.objects.filter(run=run, status="open").first()
            asked = stop.approval if stop else run.budget_question
            yield Event("now.waiting", None, tone="wait", uses=waiting, entry={"approval": asked} if asked else {})
        elif run.status == "sleeping" and run.reason_code == halts.CODE:
            yield Event("now.halted", None, tone="wait")
        elif run.status == "sleeping":
            doubtful = any(use.call.status == "unknown" for use in self.uses.values())
            yield Event("now.sleeping", None, tone="wait", entry={"until": run.wake_at, "doubtful": doubtful})
        elif run.status in {"ready", "in_progress"}:
            yield Event("now.working", None, tone="wait")

    def name(self, by: str) -> str:
        """The person behind a public id; nothing for the machine."""
        key = rows.parse_id("per", by)
        return self.names.get(key, "Somebody").split()[0] if key else ""

    @property
    def version(self) -> str:
        """Changes with everything the page shows."""
        return f"{self.run.head_seq}.{self.run.status}.{len(self.entries)}"

    @property
    def steps(self) -> int:
        return len(self.checkpoints)

    @cached_property
    def _budget(self) -> budgets.Budget | None:
        return budgets.of(self.run)

    @property
    def currency(self) -> str:
        """The currency of the run's budget."""
        return self._budget.currency if self._budget else ""

    @property
    def budget(self) -> list[Meter]:
        """Each capped unit of the run's budget."""
        shares = budgets.shares(self._budget) if self._budget else []
        return [Meter(each, self.currency) for each in shares if each.cap is not None]

    @property
    def figures(self) -> str:
        """How many calls are in which state, in words."""
        counts: dict[str, int] = {}
        for use in self.uses.values():
            counts[WORDS[use.call.status]] = counts.get(WORDS[use.call.status], 0) + 1
        return ", ".join(f"{count} {word}" for word, count in counts.items()) or "none"


def _kind(entry: Entry) -> str:
    """The entry's kind; for a decision with its verdict, for an outcome with its word."""
    kind = str(entry["kind"])
    if kind == "decision.made":
        return f"decision.{entry.get('verdict', '')}"
    return f"outcome.{entry.get('outcome', '')}" if kind == "outcome.reported" else kind


def _rules(told: Sequence[Entry]) -> dict[str, str]:
    """The rule that applied to each call, by its subject; the last one where an edit raised the bar. With the standing
    grant, where one let the call through."""
    ruled = [entry for entry in told if entry.get("rule") and entry.get("subject")]
    return {str(entry["subject"]): f"{entry['rule']}{_grant(entry)}" for entry in ruled}


def _grant(entry: Entry) -> str:
    return f" and standing grant {entry['grant']}" if entry.get("grant") else ""


def _chosen(told: Sequence[Entry]) -> dict[str, str]:
    """What people chose last where nobody knew what had become of a call, by the call."""
    return {str(entry["subject"]): str(entry["choice"]) for entry in told if entry["kind"] == "call.settled"}


def _people(told: Sequence[Entry], run: Run) -> set[UUID]:
    ids = {rows.parse_id("per", str(entry.get("by", ""))) for entry in told} | {run.requester_id}
    return {key for key in ids if key}


def _merged(events: list[Event]) -> Iterator[Event]:
    """An edit and the yes that it counts as are one line."""
    edit: Event | None = None
    for event in events:
        if edit is not None and event.kind == "decision.approve" and event.who == edit.who:
            edit.approved = True
            edit = None
            continue
        edit = event if event.kind == "decision.edit" else None
        yield event


def _told_by_step(kind: str, entry: Entry, use: Use | None) -> bool:
    """Whether the step's line says it: that a call was sent once, and how one nobody was asked about ended."""
    if kind == "call.intended":
        return entry.get("attempt") == 1 and (use is None or (len(use.attempts) < 2 and not use.call.questions))
    return kind in {"outcome.executed", "outcome.failed"} and use is not None and not use.call.approval
