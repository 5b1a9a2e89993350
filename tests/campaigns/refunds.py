"""One refund's way: a run is started, its call is held, people approve it over HTTP, and it should be paid once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Final

from django.db import connections

from runtime.calls import Call
from runtime.demo import opening
from runtime.runs import Run
from tests.campaigns import furniture
from tests.campaigns.furniture import stubbornly
from tests.campaigns.visitors import Visitor

ONE_PERSON: Final = 31_000
PATIENCE: Final = 300.0
"""Seconds for which people wait to be asked, and try to answer."""
ENDS: Final = {"completed", "failed", "cancelled", "parked"}
TWO_PEOPLE: Final = 124_000
"""Cents: what one of Finance may approve, and what needs two."""


@dataclass
class Refund:
    """A refund under way. ``keyed``: with a tool that honours our key. ``beside``: in one step with a call that needs
    nobody; people answer only after the blow then, or the run would never wait for them. ``taken`` names the people
    whose approval was answered as taken."""

    people: list[Visitor]
    amount: int
    keyed: bool
    beside: bool = False
    run: Run | None = None
    approval: str = ""
    taken: list[str] = field(default_factory=list)
    problem: str = ""
    blow: str = ""
    hit_at: float = 0.0
    _struck: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def set_off(self) -> None:
        """Go the way in a thread of its own, as stubbornly as people do: over every restart."""
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether everybody has had their say by then. It may still have to be paid."""
        if self._thread:
            self._thread.join(max(0.0, seconds))
        return self._thread is not None and not self._thread.is_alive()

    def _go(self) -> None:
        try:
            self.run = self._start()
            self.approval = furniture.held(self.run.public_id, seconds=PATIENCE)
            if self.beside:
                self._struck.wait(PATIENCE)
            for person in self.people:
                if person.again().approve(self.approval, seconds=PATIENCE):
                    self.taken.append(person.email)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            connections.close_all()

    def _start(self) -> Run:
        ticket = furniture.ticket(self.amount)
        key, args = f"campaign:{ticket['number']}", furniture.refund_args(ticket)
        if not self.keyed:
            return stubbornly(lambda: furniture.play(("campaign.once", args), key=key))
        if self.beside:
            step = [("payments.get_charge", {"charge": args["charge"]}), ("payments.create_refund", args)]
            return stubbornly(lambda: furniture.play_steps(step, key=key))
        return stubbornly(lambda: opening.start(ticket))

    @property
    def name(self) -> str:
        return self.run.public_id if self.run else "a run that was never started"

    def is_over(self) -> bool:
        """Whether its run has come to an end, or waits for an operator to say what happened."""
        if self.run is None:
            return bool(self.problem)
        run = self.run
        stubbornly(run.refresh_from_db)
        return run.status in ENDS or self.is_in_doubt()

    def is_in_doubt(self) -> bool:
        """Whether people are asked what became of it."""
        doubtful = Call.objects.filter(run=self.run, status="unknown").exclude(question="")
        return stubbornly(doubtful.exists)

    def hit(self, blow: str) -> None:
        """Note what happened to it, and when."""
        self.blow, self.hit_at = blow, time.time()
        self._struck.set()
