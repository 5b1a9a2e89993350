"""`bin/prove tamper`: the database is changed past Placet in every way, by its superuser; each is caught and sends
nothing.

Each class has a workspace of its own with a run that was allowed one call and has an approved one to send. The rows are
changed, then a worker takes the run up as it always does. What arrives at the tools' endpoint is counted there. A class
is caught when nobody is let in, the verdict is refused, the run parked, the call refused, or `ledger verify` names it.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

from tests.campaigns.stage import Stage, tell


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Tamper; ok when everything was caught, nothing was sent, and what nobody touched ran and verified."""
    from django.db import connection

    from tests.campaigns import histories, intruders, permits, records  # noqa: F401 - which add their own
    from tests.campaigns.forgeries import KINDS

    stage.stack.stop("runs", "sweep")  # the loop runs here, so that a worker comes after the change and never before
    with connection.cursor() as cursor:  # a busy machine may keep this process, unlike a worker, from running for long
        cursor.execute("SET idle_in_transaction_session_timeout = '60s'")
    sound = untouched(stage)
    caught, dispatched, missed = dict[str, list[str]](), 0, list[str]()
    rng = random.Random(options.seed)
    for turn in range(1, (options.rounds or 1) + 1):
        for each in rng.sample(KINDS, len(KINDS)):
            doors, sent = tamper(stage, each, turn)
            tell(f"{each.name}: {', '.join(doors) or 'NOT CAUGHT'}{f', {sent} SENT' if sent else ''}")
            caught.setdefault(each.name, doors)
            dispatched += sent
            missed += [] if doors else [each.name]
    doors_counted = {door: sum(door in doors for doors in caught.values()) for door in DOORS}
    figures = {"classes": len(KINDS), "caught": len(KINDS) - len(set(missed)), "dispatched": dispatched}
    return sound and not missed and not dispatched, figures | {"by_door": doors_counted, "missed": sorted(set(missed))}


DOORS = ("sign-in", "decide", "resume", "clearance", "verify")


def untouched(stage: Stage) -> bool:
    """The same with nothing changed: both calls arrive and nothing is found. Otherwise the rest would prove nothing."""
    from approvals import rows
    from tests.campaigns.field import lay_out

    field = lay_out(stage, "untouched")
    with rows.reading(field.workspace):
        field.approve()
        status = field.work().status
        found = field.findings()
        tell(f"untouched: {status}, {field.sent()} sent {' '.join(found)}")
        return status == "completed" and field.sent() == 2 and not found and not field.caught()


def tamper(stage: Stage, kind: Any, turn: int) -> tuple[list[str], int]:
    """Do it and let a worker go on: the doors at which it was seen, and how many calls were sent all the same."""
    from approvals import rows
    from tests.campaigns.field import lay_out
    from tests.campaigns.forgeries import KINDS

    field = lay_out(stage, f"tamper-{KINDS.index(kind)}-{turn}")
    with rows.reading(field.workspace):
        if not kind.held:
            field.approve()
        kind.does(field)
        before = field.sent()
        field.wake()
        field.work()
        return field.caught(), field.sent() - before
