"""A call as the pages show it: the tool's facts, the arguments, the sendings, and what became of it in words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from approvals import gate
from approvals.ledger import canonical
from approvals.ledger.sealing import Erased, Tampered
from runtime import calls, definitions, questions, tools
from runtime.attempts import Attempt
from runtime.calls import Call

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
ANSWERS: Final = {
    tools.EXECUTED: "came",
    tools.FAILED_BEFORE: "failed before anything happened",
    tools.FAILED_AFTER: "failed after it had begun",
    tools.NOT_SENT: "was not sent",
    tools.LOST: "none came",
}
"""What a sending came to, by its outcome."""


@dataclass(frozen=True)
class Sending:
    """One sending in words. ``answer`` is empty while none is recorded; ``open``: what came of it is not known."""

    attempt: Attempt

    @property
    def answer(self) -> str:
        return ANSWERS.get(self.attempt.outcome, self.attempt.outcome) if self.attempt.ended_at else ""

    @property
    def open(self) -> bool:
        return self.attempt.outcome in {"", tools.LOST}


@dataclass(frozen=True)
class Use:
    """A call with what its title needs: the tool's facts and the arguments, or why those are ``gone``; its rule, its
    attempts, and what people ``chose`` where nobody knew what had become of it."""

    call: Call
    tool: gate.ToolFacts
    args: Any
    gone: str = ""
    rule: str = ""
    attempts: list[Attempt] = field(default_factory=list)
    chose: str = ""

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
    def found(self) -> bool:
        """Whether people, and not the tool, said that it happened."""
        return self.chose == "it_happened" and self.call.status == "executed"

    @property
    def ended(self) -> str:
        """What became of it, with the seconds of the last attempt."""
        word, last = WORDS[self.call.status], self.last
        if self.found or (self.chose == "abandon" and self.call.status == "failed"):
            return "happened, as a person found" if self.found else "given up; nobody knows whether it happened"
        if self.call.due_at and self.call.status == "executing":
            return "waiting to be tried again"
        if last is None or last.ended_at is None or self.call.status not in {"executed", "failed"}:
            return "" if self.call.status == "refused" else word
        return f"{word} in {(last.ended_at - last.created_at).total_seconds():.1f} s"

    @property
    def tone(self) -> str:
        return {"executed": "done", "failed": "danger", "unknown": "waiting"}.get(self.call.status, "")

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def sendings(self) -> list[Sending]:
        return [Sending(each) for each in self.attempts]

    @property
    def asks(self) -> str:
        """The approval in which people are asked about it now."""
        return self.call.question if self.call.status == "unknown" else self.call.approval


def use_of(call: Call, rule: str, attempts: Collection[Attempt], chose: str = "", *, masked: gate.Masked) -> Use:
    """A call with what its title needs. Arguments that cannot be read are left out, and the page says so."""
    tool = definitions.facts(call.tool, masked) if call.tool else gate.ToolFacts(call.tool_name, call.tool_name, "", {})
    if call.kind == Call.Kind.QUESTION:
        tool = gate.ToolFacts("question", "Question", "", {}, summary=questions.SUMMARY)
    args, gone = None, ""
    try:
        args = canonical.parse(calls.args_of(call))
    except Erased:
        gone = "erased"
    except (Tampered, canonical.Unrepresentable):
        gone = "arguments that cannot be read"
    return Use(call, tool, args, gone, rule, list(attempts), chose)
