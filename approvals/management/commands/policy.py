"""``manage.py policy load | show | versions | diff | test | backtest | explain | why``: a policy from the shell."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError, CommandParser

from approvals import (
    bars,
    explaining,
    policies,
    policy_backtest,
    policy_cases,
    policy_diff,
    policy_switching,
    policy_versions,
    rows,
    schemas,
)
from approvals.approvals import Approval
from approvals.edits import marks
from approvals.ledger import canonical
from approvals.ledger.printing import PlainCommand
from approvals.management import proposing, who
from approvals.people import Person, Workspace
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

_Read = TypeVar("_Read")


class Command(PlainCommand):
    help = "Load a policy document, show and compare versions, or explain what the policy says of a call."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        load = words.add_parser("load", help="check a YAML or JSON document and put it in force")
        load.add_argument("file", help="the document, or - for standard input")
        load.add_argument("--by", metavar="EMAIL", help="the person who answers for this version")
        load.add_argument("--reason", default="", help="why, for those who are asked where it has to be approved")
        show = words.add_parser("show", help="print the policy in force")
        show.add_argument("--version", type=int, dest="number", help="an older version")
        versions = words.add_parser("versions", help="list the versions: when, by whom, and what each changed")
        diff = words.add_parser("diff", help="say in what two versions, or documents, differ")
        diff.add_argument("before", help="the number of a version, or a file, which is compared with what is in force")
        diff.add_argument("after", nargs="?", help="a version or file to compare with; else the version in force")
        test = words.add_parser("test", help="run the cases that are written beside a document; needs no workspace")
        test.add_argument("file", type=Path)
        test.add_argument("--cases", type=Path, metavar="FILE", help="else NAME.cases.yaml beside NAME.yaml")
        backtest = words.add_parser(
            "backtest", help="list every call of which a document would have said something else"
        )
        backtest.add_argument("file", help="the document, - for standard input, or the number of a version")
        backtest.add_argument("--days", type=int, metavar="N", help="only calls of the last N days")
        explain = words.add_parser("explain", help="say which rule applies to a call, and why")
        explain.add_argument("tool")
        explain.add_argument("file", metavar="args", help="a file with the arguments as JSON, or - for standard input")
        explain.add_argument("--agent", default="", help="the agent that would propose it")
        why = words.add_parser("why", help="say why people are asked, who can decide, and who cannot and why")
        why.add_argument("approval", help="its id")
        why.add_argument(
            "--as", dest="person", metavar="EMAIL", help="also what this person may say, or why they may not"
        )
        for word in (load, show, versions, diff, backtest, explain, why):
            who.add_workspace(word)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["word"] == "test":
            self._test(options["file"], options["cases"])
            return
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            getattr(self, f"_{options['word']}")(workspace, options)

    def _load(self, workspace: Workspace, options: dict[str, Any]) -> None:
        author, text = who.member(options["by"], workspace), _read(options["file"])
        try:
            answer = policy_switching.switch_on(workspace, text, by=author, reason=options["reason"])
        except policies.PolicyFault as fault:
            raise CommandError(f"{options['file']}: {fault}") from fault
        except policies.NeedsApproval as asks:
            raise CommandError(f"{asks} Say who wants it: --by EMAIL.") from asks
        if isinstance(answer, Refused):
            raise CommandError(answer.message)
        if isinstance(answer, Approval):
            self.stdout.write(proposing.told(answer))
            return
        policy = answer
        self.stdout.write(f"Version {policy.version} is in force in {workspace.name}: {len(policy.rules)} rules.")

    def _show(self, workspace: Workspace, options: dict[str, Any]) -> None:
        policy = _version(workspace, options["number"])
        for line in json.dumps({"version": policy.version} | _contents(policy), indent=2).split("\n"):
            self.stdout.write(line)

    def _versions(self, workspace: Workspace, _: dict[str, Any]) -> None:
        for each in policy_versions.versions(workspace.pk):
            told = f"{each.number}  {each.at or 'at no known time'}  {each.author}  {each.digest[:12]}"
            self.stdout.write(f"{told}  {each.problem or f'{each.rules} rules'}")
            for line in each.changed or []:
                self.stdout.write(f"    {line.what} {line.where} {line.word}".rstrip())

    def _diff(self, workspace: Workspace, options: dict[str, Any]) -> None:
        before, after = options["before"], options["after"]
        if after is None and not before.isdecimal():
            before, after = None, before
        found = policy_diff.differences(_document(workspace, before), _document(workspace, after))
        for each in found:
            self.stdout.write(str(each))
        if not found:
            self.stdout.write("They say the same.")

    def _test(self, file: Path, cases: Path | None) -> None:
        document, beside = _parsed(str(file), policies.read_document), cases or policy_cases.beside(file)
        results = policy_cases.run(document, _parsed(str(beside), policy_cases.read_cases))
        failed = [result for result in results if result.wrong]
        for result in results:
            self.stdout.write(f"{'FAILED' if result.wrong else 'ok':<6}  {result.case.name}")
            for line in _why_failed(result):
                self.stdout.write(f"        {line}")
        for rule in policy_cases.unreached(document, results):
            self.stdout.write(f"No case comes to rule {rule}.")
        if failed:
            raise CommandError(f"{len(failed)} of {len(results)} cases failed.")
        self.stdout.write(f"{len(results)} cases hold.")

    def _backtest(self, workspace: Workspace, options: dict[str, Any]) -> None:
        document, report = _document(workspace, options["file"]), policy_backtest.Report()
        try:
            bars.check_people(workspace.pk, document["rules"])
        except policies.PolicyFault as fault:
            raise CommandError(f"{options['file']}: {fault}") from fault
        since = rows.now() - timedelta(days=options["days"]) if options["days"] is not None else None
        counted: Counter[str] = Counter()
        for change in policy_backtest.replay(workspace.pk, document, report, since=since):
            counted["other verdicts" if change.of_verdict else "other demands on people"] += 1
            self.stdout.write(_told(change))
        for problem in report.unproven:
            self.stdout.write(f"not replayed: {problem}")
        counted += Counter({"alike": report.same, "refused whatever policy says": report.refused})
        counted += Counter({"erased": report.erased, "not proven": len(report.unproven)})
        told = ", ".join(f"{count} {what}" for what, count in counted.items())
        self.stdout.write(f"{counted.total()} calls{': ' + told if told else ''}.")

    def _explain(self, workspace: Workspace, options: dict[str, Any]) -> None:
        try:
            args = schemas.read_arguments(_read(options["file"]))
        except canonical.Unrepresentable as fault:
            raise CommandError(f"{options['file']}: {fault}") from fault
        opinion, trials = policies.explain(workspace.pk, tool=options["tool"], agent=options["agent"], args=args)
        for trial in trials:
            self.stdout.write(f"{'*' if trial.matches else ' '} {trial.rule_id}: {trial.why}")
        self.stdout.write(f"{opinion.verdict}{': ' + opinion.reason if opinion.reason else ''}")
        if opinion.verdict == "require_approval" and opinion.rule:
            needs = ", ".join(f"{need['count']} of {need['team']}" for need in opinion.rule["approvals"])
            self.stdout.write(f"needs {needs}, within {opinion.rule['deadline']} seconds")

    def _why(self, workspace: Workspace, options: dict[str, Any]) -> None:
        approval = _approval(workspace, options["approval"])
        person = who.person(options["person"])
        try:
            lines = [*_explained(approval), *(_yours(approval, person) if person else [])]
        except UNPROVEN as fault:
            raise CommandError(f"It cannot be proved what was asked. {fault}") from fault
        for line in lines:
            self.stdout.write(line)


def _approval(workspace: Workspace, named: str) -> Approval:
    key = rows.parse_id(Approval.PREFIX, named)
    approval = Approval.objects.filter(workspace=workspace, pk=key).first() if key else None
    if approval is None:
        raise CommandError(f"{workspace.name} has no such approval.")
    return approval


def _explained(approval: Approval) -> Iterator[str]:
    told = explaining.explain(approval)
    rule, version = told.rule, told.policy_version
    yield f"{approval.status}, revision {approval.revision}: {marks.escaped(approval.tool_title)}"
    reason = f", because: {rule['reason']}" if rule["reason"] else ""
    yield f"Rule {rule['id']} of policy version {version} asks {' and '.join(told.needs)}{reason}"
    if told.passed:
        yield f"The rules before it do not match: {', '.join(told.passed)}"
    for one in told.people:
        able = f"cannot: {one.cannot}" if one.cannot else "can"
        yield f"  {one.person.name} <{one.person.email}>, {' and '.join(one.seats)}: {able}"
    if approval.status == Approval.Status.PENDING:
        yield f"{told.open} more needed, by {approval.expires_at:%Y-%m-%d %H:%M} UTC"


def _yours(approval: Approval, person: Person) -> Iterator[str]:
    yours = explaining.yours(approval, person)
    yield f"{person.name} may {' or '.join(yours.may)}" if yours.may else f"{person.name} may say nothing now"
    if yours.cannot:
        yield f"{person.name} may not say yes: {yours.cannot}"


def _document(workspace: Workspace, named: str | None) -> dict[str, Any]:
    """A document with its defaults: a version by its number, a file by its name, or what is in force."""
    if named is None or named.isdecimal():
        return _contents(_version(workspace, int(named) if named else None))
    return _parsed(named, policies.read_document)


def _parsed(file: str, read: Callable[[bytes], _Read]) -> _Read:
    try:
        return read(_read(file))
    except policies.PolicyFault as fault:
        raise CommandError(f"{file}: {fault}") from fault


def _told(change: policy_backtest.Change) -> str:
    named = f"{change.at:%Y-%m-%d %H:%M}  {change.subject}  {change.tool}  {change.agent}"
    return f"{named}  {_said(change.before)} -> {_said(change.after)}{'  open now' if change.open else ''}"


def _said(opinion: policies.Opinion) -> str:
    rule = opinion.rule or {"approvals": []}
    needs = [f"{need['count']} of {need['team']}" for need in rule["approvals"]]
    return f"{opinion.verdict} ({', '.join([opinion.rule_id or 'no rule', *needs])})"


def _why_failed(result: policy_cases.Result) -> Iterator[str]:
    for word, found in result.wrong.items():
        yield f"{word}: expected {json.dumps(result.case.expect[word])}, found {json.dumps(found)}"
    if result.wrong:
        yield from (f"{'*' if trial.matches else ' '} {trial.rule_id}: {trial.why}" for trial in result.trials)


def _version(workspace: Workspace, number: int | None) -> policies.Policy:
    policy = policies.current(workspace.pk) if number is None else policy_versions.numbered(workspace.pk, number)
    if policy is None:
        raise CommandError(f"{workspace.name} has no such policy.")
    return policy


def _contents(policy: policies.Policy) -> dict[str, Any]:
    try:
        return policy.contents
    except UNPROVEN as fault:
        raise CommandError(str(fault)) from fault


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as fault:
        raise CommandError(f"{name}: {fault.strerror}") from fault
