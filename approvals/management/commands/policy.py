"""``manage.py policy load | show | explain``: a workspace's policy from the shell."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from approvals import policies, rows, schemas, workspaces
from approvals.ledger import canonical
from approvals.people import Person, Workspace


class Command(BaseCommand):
    help = "Load a policy document, show the one in force, or explain what it says of a call."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        load = words.add_parser("load", help="check a YAML or JSON document and put it in force")
        load.add_argument("file", help="the document, or - for standard input")
        load.add_argument("--by", metavar="EMAIL", help="the person who answers for this version")
        show = words.add_parser("show", help="print the policy in force")
        show.add_argument("--version", type=int, dest="number", help="an older version")
        explain = words.add_parser("explain", help="say which rule applies to a call, and why")
        explain.add_argument("tool")
        explain.add_argument("file", metavar="args", help="a file with the arguments as JSON, or - for standard input")
        explain.add_argument("--agent", default="", help="the agent that would propose it")
        for word in (load, show, explain):
            _add_workspace(word)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = _workspace(options["workspace"])
        with rows.reading(workspace):
            getattr(self, f"_{options['word']}")(workspace, options)

    def _load(self, workspace: Workspace, options: dict[str, Any]) -> None:
        author = _author(options["by"])
        try:
            policy = policies.load(
                workspace, _read(options["file"]), by=author.public_id if author else "system", author=author
            )
        except policies.PolicyFault as fault:
            raise CommandError(f"{options['file']}: {fault}") from fault
        self.stdout.write(f"Version {policy.version} is in force in {workspace.name}: {len(policy.rules)} rules.")

    def _show(self, workspace: Workspace, options: dict[str, Any]) -> None:
        versions = policies.Policy.objects.filter(workspace=workspace).order_by("-version")
        policy = versions.filter(version=options["number"]).first() if options["number"] else versions.first()
        if policy is None:
            raise CommandError(f"{workspace.name} has no such policy.")
        self.stdout.write(json.dumps({"version": policy.version} | policy.contents, indent=2))

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


def _add_workspace(parser: ArgumentParser) -> None:
    parser.add_argument("--workspace", metavar="SLUG", help="needed where there is more than one")


def _workspace(slug: str | None) -> Workspace:
    found = workspaces.named(slug) if slug else workspaces.only()
    if found is not None:
        return found
    raise CommandError(f"There is no workspace {slug}." if slug else "Say which workspace: --workspace SLUG.")


def _author(email: str | None) -> Person | None:
    if email is None:
        return None
    person = Person.objects.filter(email=email.lower(), is_active=True).first()
    if person is None:
        raise CommandError(f"There is no active person {email}.")
    return person


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as fault:
        raise CommandError(f"{name}: {fault.strerror}") from fault
