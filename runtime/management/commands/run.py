"""``manage.py run log | cancel | retry RUN``: what happened in a run, and the two things an operator does about it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from approvals import gate, rows
from runtime import runs, timeline
from runtime.management import who
from runtime.runs import Run


class Command(BaseCommand):
    help = "Tell what happened in a run, cancel it, or let a failed or parked one go on."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        log = words.add_parser("log", help="steps, decisions, attempts, keys and outcomes, in order")
        log.add_argument("run")
        log.add_argument("--json", action="store_true", help="one JSON object")
        for word, told in (
            ("cancel", "withdraw its approvals and end it"),
            ("retry", "let it go on from its last commit"),
        ):
            verb = words.add_parser(word, help=told)
            verb.add_argument("run")
            verb.add_argument("--reason", default="An operator ended it.")
            who.add_person(verb, "who does it; they must be allowed to operate the agent")

    def handle(self, *_: Any, **options: Any) -> None:
        getattr(self, f"_{options['word']}")(_run(options["run"]), options)

    def _log(self, run: Run, options: dict[str, Any]) -> None:
        doubts = timeline.doubts(run)
        if options["json"]:
            self.stdout.write(json.dumps(_told(run, doubts), indent=2, ensure_ascii=False))
            return
        self.stdout.write(
            f"{run.public_id}  {run.agent.name} {run.version.number}  {run.status}  {run.reason}".rstrip()
        )
        for moment in timeline.moments(run):
            self.stdout.write(_line(moment))
        for sent in timeline.sendings(run):
            tried = ", ".join(outcome or "no answer yet" for outcome in sent.outcomes) or "never sent"
            self.stdout.write(f"{sent.call}  {sent.tool} ({sent.effect})  {sent.status}  {tried}  key {sent.key}")
        self.stdout.write("\n".join(doubts) or "Every key belongs to one call, and nothing happened twice.")

    def _cancel(self, run: Run, options: dict[str, Any]) -> None:
        person = _operator(run, options)
        key = person.pk if person else None
        if not runs.cancel(run, by=who.public_id(person), reason=options["reason"], person_id=key):
            raise CommandError(f"{run.public_id} has ended already or is about to: it is {run.status}.")
        self.stdout.write(f"{run.public_id} is being cancelled.")

    def _retry(self, run: Run, options: dict[str, Any]) -> None:
        if not runs.retry(run, by=who.public_id(_operator(run, options))):
            raise CommandError(f"{run.public_id} has neither failed nor been parked: it is {run.status}.")
        self.stdout.write(f"{run.public_id} goes on.")


def _run(public_id: str) -> Run:
    key = rows.parse_id(Run.PREFIX, public_id)
    run = Run.objects.select_related("agent", "version").filter(pk=key).first() if key else None
    if run is None:
        raise CommandError(f"There is no run {public_id}.")
    return run


def _operator(run: Run, options: dict[str, Any]) -> Any:
    person = who.person(options)
    if person and not gate.may(person, "operate", run.agent):
        raise CommandError(f"{person.email} may not operate {run.agent.name}.")
    return person


def _told(run: Run, doubts: list[str]) -> dict[str, Any]:
    moments = [{**asdict(moment), "at": f"{moment.at:%Y-%m-%dT%H:%M:%S.%fZ}"} for moment in timeline.moments(run)]
    named = {"run": run.public_id, "agent": run.agent.name, "version": run.version.number, "status": str(run.status)}
    story = {"moments": moments, "calls": [asdict(sent) for sent in timeline.sendings(run)], "doubts": doubts}
    return named | {"reason": run.reason} | story


def _line(moment: timeline.Moment) -> str:
    facts = "  ".join(f"{name}={fact}" for name, fact in moment.facts.items() if fact not in ("", None))
    by = f"  by {moment.by}" if moment.by else ""
    return f"{moment.at:%H:%M:%S.%f}  {moment.kind:<20}{by}  {facts}".rstrip()
