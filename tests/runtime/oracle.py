"""What should come of calls, as a few lines of plain Python say it: the oracle of the state machine.

It knows what people said and what the world saw, and nothing of rows, leases or transactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DEADLINE = 3600
"""Seconds that the tests' policy gives people."""
ONCE = frozenset({"keyed", "lookup"})
"""Effects that are had once whatever happens: the tool drops what it has seen, or can be asked."""


@dataclass
class Question:
    """What people are asked about a call: how many have to say yes, by when, and what was said so far."""

    need: int
    until: float
    n: int
    yes: set[str] = field(default_factory=set)
    status: str = "pending"

    def decide(self, who: str, verdict: str, now: float) -> str:
        """The answer that somebody gets: where it stands then, or the code of a refusal."""
        if self.status != "pending" or now >= self.until:
            return "too_late"
        if verdict == "approve" and who in self.yes:
            return "already_voted"
        if verdict == "edit" and self.need > 1:
            return "unsatisfiable"  # its editor may not approve it then, and one person is not two
        if verdict == "edit":
            self.n += 100
        if verdict == "reject":
            self.status = "rejected"
        else:
            self.yes.add(who)
            self.status = "approved" if len(self.yes) == self.need else "pending"
        return self.status


@dataclass
class Story:
    """One proposed call: its tool, its number, what people were asked and what they ordered after a doubt."""

    manner: str
    effect: str
    n: int
    question: Question | None = None
    again: int = 0
    vouched: bool = False

    @property
    def allowed(self) -> bool:
        """Whether it may have been sent by now."""
        return self.manner == "free" or (self.question is not None and self.question.status == "approved")

    @property
    def sent_as(self) -> int:
        """The number it may be sent with."""
        return self.question.n if self.question else self.n

    def faults(self, status: str, sent: list[int], done: list[int]) -> list[str]:
        """What is wrong with a call of this status, of which the world saw these numbers sent and done."""
        most = 1 if self.effect in ONCE else 1 + self.again if self.effect == "unsafe" else len(sent)
        wrong = {
            "was sent before anybody allowed it": sent and not self.allowed,
            "was sent with other bytes": set(sent) - {self.sent_as},
            f"was done {len(done)} times": len(done) > most,
            f"is {status}, and was sent": sent and status in {"held", "refused", "answered", "expired"},
            "is executed, and was not done": status == "executed" and not done and not self.vouched,
            "waits, and its question has ended": status == "held"
            and self.question
            and self.question.status != "pending",
        }
        return [fault for fault, found in wrong.items() if found]
