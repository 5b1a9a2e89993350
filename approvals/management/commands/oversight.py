"""``manage.py oversight``: how people decide in a workspace, and what whoever answers for its policy should look at."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.core.management.base import CommandError

from approvals import oversight, people, rows
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.oversight import Habit, Report
from approvals.people import Person

HEADINGS: Final = {"person": "By person", "tool": "By tool", "channel": "By channel"}


class Command(PlainCommand):
    help = "Tell how people decide: how often, how fast, how often no, and what nobody answered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        who.add_workspace(parser)
        parser.add_argument("--days", type=int, default=30, help="how far back, from 1 to 365")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *_: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= 365:
            raise CommandError("--days is a whole number from 1 to 365.")
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            found = oversight.report(workspace.pk, timedelta(days=options["days"]))
            if options["json"]:
                told = json.dumps(_told(found, options["days"]), indent=2, ensure_ascii=False)
            for line in told.split("\n") if options["json"] else _lines(found, options["days"]):
                self.stdout.write(line)


def _lines(found: Report, days: int) -> Iterator[str]:
    yield f"In {days} days{'' if found.whole else f', of the newest {oversight.MOST:,}'}:"
    named = _names(found)
    for what, heading in HEADINGS.items():
        for habit in found.of(what):
            yield f"{heading}  {named(habit)}  {_measured(habit)}"
    for one in found.ended:
        share = f"{100 * one.expired / one.ended:.0f} %"
        yield f"Ended  {one.tool}  {one.ended:,}, {share} expired, {one.repeats:,} asked again after a no"
    yield from (list(oversight.noticed(found)) or ["Nothing stands out."])


def _measured(habit: Habit) -> str:
    pace = f"{habit.seconds:.0f} s at the median" if habit.seconds is not None else "no time known"
    length = f" for {habit.length:,.0f} bytes" if habit.length else ""
    made = f"{habit.decisions:,} decision{'' if habit.decisions == 1 else 's'}"
    return f"{made}, {habit.noes:,} no, {habit.quick:,} very quick, {pace}{length}"


def _names(found: Report) -> Callable[[Habit], str]:
    known = people.names({UUID(habit.name) for habit in found.of("person")})
    return lambda habit: known.get(UUID(habit.name), habit.name) if habit.of == "person" else habit.name


def _told(found: Report, days: int) -> dict[str, Any]:
    named, noticed = _names(found), list(oversight.noticed(found))
    habits = {what: [_habit(habit, named) for habit in found.of(what)] for what in HEADINGS}
    ended = [asdict(one) for one in found.ended]
    return {"days": days, "whole": found.whole, **habits, "ended": ended, "noticed": noticed}


def _habit(habit: Habit, named: Callable[[Habit], str]) -> dict[str, Any]:
    told = asdict(habit) | {"name": named(habit)}
    told |= {"id": rows.public_id(Person.PREFIX, UUID(habit.name))} if habit.of == "person" else {}
    return {name: value for name, value in told.items() if name != "of"}
