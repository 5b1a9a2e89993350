"""A journey of a campaign: a run under way among people who answer it, over every restart, in a thread of its own."""

from __future__ import annotations

import threading
import time
from contextvars import copy_context
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from django.db import connections

from runtime.runs import Run
from tests.campaigns.furniture import stubbornly
from tests.campaigns.visitors import Visitor

PATIENCE: Final = 300.0
"""Seconds for which people wait to be asked, and try to answer."""
ENDS: Final = {"completed", "failed", "cancelled", "parked"}


@dataclass
class Journey:
    """What every kind of journey has; each says how it begins, who answers what, and when it is in doubt.

    ``keyed``: with a tool that honours our key. ``problem`` is what went wrong, ``blow`` what was done to it and
    ``hit_at`` when.
    """

    people: list[Visitor]
    _: KW_ONLY
    keyed: bool = False
    run: Run | None = None
    problem: str = ""
    blow: str = ""
    hit_at: float = 0.0
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> Run:
        """Start the run, once, however often it is tried."""
        raise NotImplementedError

    def answer(self) -> None:
        """Let everybody who had no say yet have it."""
        raise NotImplementedError

    def is_in_doubt(self) -> bool:
        """Whether people are asked what became of a call, and nothing else is under way."""
        raise NotImplementedError

    def set_off(self) -> None:
        """Go the way in a thread of its own, as stubbornly as people do; or go on, where the run is there already."""
        self._thread = threading.Thread(target=copy_context().run, args=(self._go,), daemon=True)
        self._thread.start()

    def _go(self) -> None:
        try:
            self.run = self.run or stubbornly(self.start)
            self.answer()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            connections.close_all()

    def wait(self, seconds: float) -> bool:
        """Whether everybody has had their say by then. What they allowed may still have to be done."""
        if self._thread:
            self._thread.join(max(0.0, seconds))
        return self._thread is not None and not self._thread.is_alive()

    def hit(self, blow: str) -> None:
        """Note what happened to it, and when."""
        self.blow, self.hit_at = blow, time.time()

    @property
    def name(self) -> str:
        return self.run.public_id if self.run else "a run that was never started"

    def is_over(self) -> bool:
        """Whether its run has ended, or waits for somebody to say what became of a call."""
        if self.run is None:
            return bool(self.problem)
        stubbornly(self.run.refresh_from_db)
        return self.run.status in ENDS or self.is_in_doubt()
