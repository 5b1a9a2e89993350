"""``manage.py run log | cancel | resume | prune | erase | delete RUN``: what happened in a run, and what an operator
does about it, or about what it keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, TypeVar
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger.printing import PlainCommand
from runtime import checkpoints, events, retention, runs, timeline
from runtime.management import who
from runtime.runs import Run

T = TypeVar("T")
NOWHERE: Final = "There is no run {}."
IN_IT: Final = "only if the run is of this workspace"
OPERATE: Final = "operate the agent"
ADMINISTER: Final = "administer the workspace"
RIGHTS: Final = {
    "cancel": OPERATE,
    "resume": OPERATE,
    "prune": ADMINISTER,
    "erase": ADMINISTER,
    "delete": ADMINISTER,
}


class Command(PlainCommand):
    help = "Tell what happened in a run, cancel it, let it go on, or let go of what it keeps."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        log = words.add_parser("log", help="steps, decisions, attempts, keys and outcomes, in order")
        log.add_argument("run")
        log.add_argument("--json", action="store_true", help="one JSON object")
        log.add_argument("--lines", action="store_true", help="the events alone, each a line of JSON with its cursor")
        who.add_workspace(log, IN_IT)
        log.add_argument("--after", default="", metavar="CURSOR", help="with --lines: only what came after it")
        for word, told in (
            ("cancel", "withdraw its approvals and end it"),
            ("resume", "let a failed or parked run go on from its last commit"),
            ("prune", "empty old checkpoints, below a snapshot; headers stay, and the chain still verifies"),
            ("erase", "empty all that was written in an ended run; its headers and its ledger stay"),
            ("delete", "delete the run for good; its tombstone and its ledger stay"),
        ):
            verb = words.add_parser(word, help=told)
            verb.add_argument("run")
            if word == "cancel":
                verb.add_argument("--reason", default="An operator ended it.")
            if word == "prune":
                verb.add_argument("--keep", type=int, default=0, metavar="N", help="leave the last N checkpoints whole")
            who.add_person(verb, f"who does it; they must be allowed to {RIGHTS[word]}")
            who.add_workspace(verb, IN_IT)

    def handle(self, *_: Any, **options: Any) -> None:
        with rows.reading(_home(options)):
            getattr(self, f"_{options['word']}")(_run(options["run"]), options)

    def _log(self, run: Run, options: dict[str, Any]) -> None:
        if options["lines"]:
            self._lines(run, options["after"])
            return
        doubts = timeline.doubts(run)
        if options["json"]:
            for line in json.dumps(_told(run, doubts), indent=2, ensure_ascii=False).split("\n"):
                self.stdout.write(line)
            return
        self.stdout.write(f"{run.public_id}  {run.agent.name} {run.version.number}  {run.status}  {run.told}".rstrip())
        for moment in timeline.moments(run):
            self.stdout.write(_line(moment))
        for sent in timeline.sendings(run):
            tried = ", ".join(outcome or "no answer yet" for outcome in sent.outcomes) or "never sent"
            self.stdout.write(f"{sent.call}  {sent.tool} ({sent.effect})  {sent.status}  {tried}  key {sent.key}")
        for doubt in doubts or ["Every key belongs to one call, and nothing happened twice."]:
            self.stdout.write(doubt)

    def _lines(self, run: Run, cursor: str) -> None:
        try:
            while page := events.follow(run, after=cursor):
                for event in page:
                    self.stdout.write(json.dumps(event.out()))
                cursor = page[-1].cursor
        except ValueError as fault:
            raise CommandError(str(fault)) from fault

    def _cancel(self, run: Run, options: dict[str, Any]) -> None:
        person = _person(run, options)
        key = person.pk if person else None
        if not runs.cancel(run, by=who.public_id(person), reason=options["reason"], person_id=key):
            raise CommandError(f"{run.public_id} has ended already or is about to: it is {run.status}.")
        self.stdout.write(f"{run.public_id} is being cancelled.")

    def _resume(self, run: Run, options: dict[str, Any]) -> None:
        if not runs.resume(run, by=_by(run, options)):
            raise CommandError(f"{run.public_id} has neither failed nor been parked: it is {run.status}.")
        self.stdout.write(f"{run.public_id} goes on.")

    def _prune(self, run: Run, options: dict[str, Any]) -> None:
        count = _tried(lambda: retention.prune(run, by=_by(run, options), keep=options["keep"]))
        self.stdout.write(f"{count} checkpoints of {run.public_id} were emptied. Their headers stay.")

    def _erase(self, run: Run, options: dict[str, Any]) -> None:
        _tried(lambda: retention.erase(run, by=_by(run, options)))
        self.stdout.write(f"What was written in {run.public_id} is gone. Its headers and its ledger stay.")

    def _delete(self, run: Run, options: dict[str, Any]) -> None:
        _tried(lambda: retention.delete(run, by=_by(run, options)))
        self.stdout.write(f"{run.public_id} is deleted. Its ledger stays.")


def _tried(verb: Callable[[], T]) -> T:
    try:
        return verb()
    except (retention.NotYet, checkpoints.Unreadable) as fault:
        raise CommandError(str(fault)) from fault


def _home(options: dict[str, Any]) -> UUID:
    """The workspace that the options name, or that of the run. Raises CommandError."""
    if options["workspace"]:
        named: UUID = who.workspace(options).pk
        return named
    key = rows.parse_id(Run.PREFIX, options["run"])
    found = runs.workspace_of(key) if key else None
    if found is None:
        raise CommandError(NOWHERE.format(options["run"]))
    return found


def _run(public_id: str) -> Run:
    key = rows.parse_id(Run.PREFIX, public_id)
    run = Run.objects.select_related("agent", "version", "workspace").filter(pk=key).first() if key else None
    if run is None:
        raise CommandError(NOWHERE.format(public_id))
    return run


def _by(run: Run, options: dict[str, Any]) -> str:
    return who.public_id(_person(run, options))


def _person(run: Run, options: dict[str, Any]) -> Any:
    """Whoever does it, once they were found to have the right to."""
    person = who.person(options)
    if person is None:
        return None
    if gate.workspace_of(person, run.workspace.slug) is None:
        raise CommandError(NOWHERE.format(run.public_id))
    right = RIGHTS[options["word"]]
    thing = run.agent if right == OPERATE else run.workspace
    if not gate.may(person, right.split()[0], thing):
        raise CommandError(f"{person.email} may not {right.replace('the agent', run.agent.name)}.")
    return person


def _told(run: Run, doubts: list[str]) -> dict[str, Any]:
    moments = [{**asdict(moment), "at": f"{moment.at:%Y-%m-%dT%H:%M:%S.%fZ}"} for moment in timeline.moments(run)]
    named = {"run": run.public_id, "agent": run.agent.name, "version": run.version.number, "status": str(run.status)}
    story = {"moments": moments, "calls": [asdict(sent) for sent in timeline.sendings(run)], "doubts": doubts}
    return named | {"reason": run.told} | story


def _line(moment: timeline.Moment) -> str:
    facts = "  ".join(f"{name}={fact}" for name, fact in moment.facts.items() if fact not in ("", None))
    by = f"  by {moment.by}" if moment.by else ""
    return f"{moment.at:%H:%M:%S.%f}  {moment.kind:<20}{by}  {facts}".rstrip()
