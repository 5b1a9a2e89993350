"""A run as its page tells it: steps with their calls, people and machine in one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils.dateparse import parse_datetime

from approvals import gate, rows
from approvals.ledger import canonical
from approvals.ledger.sealing import Tampered
from runtime import budgets, calls, checkpoints, definitions, events, questions
from runtime.breakpoints import Breakpoint
from runtime.calls import Attempt, Call
from runtime.checkpoints import Checkpoint, Erased, Unreadable
from runtime.runs import Run

Entry = Mapping[str, Any]

WORDS: Final = {
    "proposed": "proposed",
    "held": "waiting",
    "cleared": "about to run",
    "executing": "running",
    "executed": "ran",
    "failed": "failed",
    "refused": "refused",
    "answered": "answered",
    "expired": "expired",
    "cancelled": "withdrawn",
    "unknown": "unknown",
}
TONES: Final = {
    "run.failed": "bad",
    "run.parked": "wait",
    "call.refused": "bad",
    "decision.reject": "bad",
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
        "call.ruled",
        "run.completed",
    }
)
"""Entries that another line tells already: the step that asked, the person who decided, the run's own end."""


@dataclass(frozen=True)
class Use:
    """A call as the page shows it: the tool's facts and the arguments, which make its title, its rule, its attempts."""

    call: Call
    tool: gate.ToolFacts
    args: Any
    rule: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def how(self) -> str:
        """What policy said of it, as far as it is known."""
        if self.call.kind == Call.Kind.QUESTION:
            return "asked people" if self.call.approval else "could not be asked"
        if self.call.approval:
            return f"asked people, by rule {self.rule}" if self.rule else "asked people"
        if self.call.status == "refused" and not self.call.digest:
            return "refused by policy"
        return f"allowed by rule {self.rule}" if self.rule else ""

    @property
    def ended(self) -> str:
        """What became of it, with the seconds of the last attempt."""
        word = WORDS[self.call.status]
        last = self.attempts[-1] if self.attempts else None
        if last is None or last.ended_at is None or self.call.status not in {"executed", "failed"}:
            return "" if self.call.status == "refused" else word
        return f"{word} in {(last.ended_at - last.created_at).total_seconds():.1f} s"

    @property
    def tone(self) -> str:
        return {"executed": "done", "failed": "danger", "unknown": "waiting"}.get(self.call.status, "")


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
    changes: list[Entry] | None = None
    approved: bool = False

    @property
    def node(self) -> str:
        """The step's name in words."""
        name = self.checkpoint.node if self.checkpoint else ""
        return "" if name.isdigit() else name.replace("_", " ").replace("-", " ").strip().capitalize()


class Narrative:
    """Everything that the page of a run tells. Reads only; ``with_state`` adds what each step changed in the state."""

    def __init__(self, run: Run, *, with_state: bool) -> None:
        self.run, self.with_state = run, with_state
        told = events.events(run, bodies=with_state)
        self.entries = [each.entry for each in told if each.entry is not None]
        steps = [each.checkpoint for each in told if each.kind == "step.committed"]
        self.checkpoints = [each for each in steps if each is not None]
        passed = Checkpoint.objects.filter(run=run, kind=Checkpoint.Kind.DECISION)
        self.passed = {bytes(each.mac).hex(): each for each in passed} if with_state else {}
        self.uses = self._uses()
        self.names = gate.names(_people(self.entries, run))

    def _uses(self) -> dict[str, Use]:
        rules = _rules(self.entries)
        attempts: dict[UUID, list[Attempt]] = {}
        for attempt in Attempt.objects.filter(call__run=self.run).order_by("number"):
            attempts.setdefault(attempt.call_id, []).append(attempt)
        found = Call.objects.filter(run=self.run).select_related("tool").order_by("step", "idx")
        return {each.subject: use_of(each, rules.get(each.subject, ""), attempts.get(each.pk, [])) for each in found}

    def events(self) -> list[Event]:
        """The lines in order, the open one last."""
        told = sorted([*self._steps(), *self._told()], key=lambda event: event.when or self.run.created_at)
        return [*_merged(told), *self._now()]

    def _steps(self) -> Iterator[Event]:
        for number, checkpoint in enumerate(self.checkpoints, 1):
            mine = [use for use in self.uses.values() if use.call.step == checkpoint.seq]
            changes = _changes(checkpoint) if self.with_state else None
            yield Event("step", checkpoint.created_at, step=number, checkpoint=checkpoint, uses=mine, changes=changes)

    def _told(self) -> Iterator[Event]:
        for entry in self.entries:
            kind = _kind(entry)
            if kind in SILENT and entry.get("approval_kind") != "breakpoint":
                continue
            use = self.uses.get(str(entry.get("subject") or entry.get("call") or ""))
            if _told_by_step(kind, entry, use):
                continue
            who = self.name(str(entry.get("by", "")))
            when = parse_datetime(str(entry["at"]))
            changes = self._changes_of(entry)
            yield Event(kind, when, who, who[:1].upper(), TONES.get(kind, ""), use=use, entry=entry, changes=changes)

    def _changes_of(self, entry: Entry) -> list[Entry] | None:
        """What people changed at a breakpoint, for those who may see the state."""
        made = self.passed.get(str(entry.get("checkpoint_mac", ""))) if entry["kind"] == "breakpoint.passed" else None
        return _changes(made) if made and self.with_state else None

    def _now(self) -> Iterator[Event]:
        run = self.run
        if run.status == "completed":
            yield Event("run.completed", run.ended_at, tone="good")
        elif run.status in {"suspended_approval", "requires_action"}:
            waiting = [use for use in self.uses.values() if use.call.status in {"held", "unknown"}]
            stop = Breakpoint.objects.filter(run=run, status="open").first()
            entry = {"approval": stop.approval} if stop else {}
            yield Event("now.waiting", None, tone="wait", uses=waiting, entry=entry)
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

    @property
    def budget(self) -> list[tuple[str, str]]:
        """Each capped unit of the run's budget, and how much of it is used and held, in words."""
        found = budgets.of(self.run)
        return (
            [(share.unit, _share(share, found.currency)) for share in budgets.shares(found) if share.cap is not None]
            if found
            else []
        )

    @property
    def figures(self) -> str:
        """How many calls are in which state, in words."""
        counts: dict[str, int] = {}
        for use in self.uses.values():
            counts[WORDS[use.call.status]] = counts.get(WORDS[use.call.status], 0) + 1
        return ", ".join(f"{count} {word}" for word, count in counts.items()) or "none"


def _share(share: budgets.Share, currency: str) -> str:
    held = f", {share.held:,} held" if share.held else ""
    unit = f" {currency} minor units" if share.unit == "money" else ""
    return f"{share.used:,}{held} of {share.cap:,}{unit}"


def use_of(call: Call, rule: str, attempts: list[Attempt]) -> Use:
    """A call with what its title needs. Arguments that cannot be read are left out, and the page says so."""
    tool = definitions.facts(call.tool) if call.tool else gate.ToolFacts(call.tool_name, call.tool_name, "", {})
    if call.kind == Call.Kind.QUESTION:
        tool = gate.ToolFacts("question", "Question", "", {}, summary=questions.SUMMARY)
    try:
        args = canonical.parse(calls.args_of(call))
    except (Tampered, canonical.Unrepresentable):
        args = None
    return Use(call, tool, args, rule, attempts)


def _changes(checkpoint: Checkpoint) -> list[Entry]:
    try:
        return list(checkpoints.body_of(checkpoint).get("ops", []))
    except Erased:
        return []
    except Unreadable as fault:
        return [{"op": "set", "path": "", "value": str(fault)}]


def _kind(entry: Entry) -> str:
    """The entry's kind; for a decision with its verdict, for an outcome with its word."""
    kind = str(entry["kind"])
    if kind == "decision.made":
        return f"decision.{entry.get('verdict', '')}"
    return f"outcome.{entry.get('outcome', '')}" if kind == "outcome.reported" else kind


def _rules(told: Sequence[Entry]) -> dict[str, str]:
    """The rule that applied to each call, by its subject; the last one where an edit raised the bar."""
    return {str(entry["subject"]): str(entry["rule"]) for entry in told if entry.get("rule") and entry.get("subject")}


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
        return entry.get("attempt") == 1
    return kind in {"outcome.executed", "outcome.failed"} and use is not None and not use.call.approval
