"""One refund's way: a run is started, its call is held, people approve it over HTTP, and it should be paid once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from runtime.calls import Call
from runtime.demo import opening
from runtime.runs import Run
from tests.campaigns import furniture
from tests.campaigns.furniture import stubbornly
from tests.campaigns.journeys import PATIENCE, Journey

ONE_PERSON: Final = 31_000
TWO_PEOPLE: Final = 124_000
"""Cents: what one of Finance may approve, and what needs two."""


@dataclass
class Refund(Journey):
    """A refund under way. ``beside``: in one step with a call that needs nobody; people answer only after the
    blow then, or the run would never wait for them. ``taken`` names the people whose approval was answered as taken."""

    amount: int
    beside: bool = False
    approval: str = ""
    taken: list[str] = field(default_factory=list)
    _struck: threading.Event = field(default_factory=threading.Event)

    def answer(self) -> None:
        """Wait for the question, and have people approve it."""
        assert self.run is not None
        waiting = [person for person in self.people if person.email not in self.taken]
        if self.taken and not waiting:
            return
        self.approval = furniture.held(self.run.public_id, seconds=PATIENCE)
        if self.beside:
            self._struck.wait(PATIENCE)
        for person in waiting:
            if person.again().approve(self.approval, seconds=PATIENCE):
                self.taken.append(person.email)

    @cached_property
    def _ticket(self) -> dict[str, Any]:
        """Drawn once: its number is the key under which the run is started, however often that is tried."""
        return furniture.ticket(self.amount)

    def start(self) -> Run:
        ticket = self._ticket
        key, args = f"campaign:{ticket['number']}", furniture.refund_args(ticket)
        if not self.keyed:
            return furniture.play(("campaign.once", args), key=key)
        if self.beside:
            step = [("payments.get_charge", {"charge": args["charge"]}), ("payments.create_refund", args)]
            return furniture.play_steps(step, key=key)
        return opening.start(ticket)

    def is_in_doubt(self) -> bool:
        """Whether people are asked what became of it."""
        doubtful = Call.objects.filter(run=self.run, status="unknown").exclude(question="")
        return stubbornly(doubtful.exists)

    def hit(self, blow: str) -> None:
        """Note what happened to it, and when."""
        super().hit(blow)
        self._struck.set()
