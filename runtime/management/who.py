"""Who runs a command, and in which workspace: the options that several commands of this app share."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals import gate


def add_workspace(parser: ArgumentParser, help: str = "needed where there is more than one") -> None:
    """Add ``--workspace``."""
    parser.add_argument("--workspace", metavar="SLUG", help=help)


def add_person(parser: ArgumentParser, help: str) -> None:
    """Add ``--as``."""
    parser.add_argument("--as", dest="person", metavar="EMAIL", help=help)


def workspace(options: dict[str, Any]) -> Any:
    """The workspace that the options mean. Raises CommandError."""
    slug = options["workspace"]
    found = gate.workspace_named(slug) if slug else gate.only_workspace()
    if found is None:
        raise CommandError(f"There is no workspace {slug}." if slug else "Say which workspace: --workspace SLUG.")
    return found


def person(options: dict[str, Any]) -> Any:
    """The person whom the options name, or None. Raises CommandError for an address that nobody has."""
    email = options["person"]
    found = gate.person_named(email) if email else None
    if email and found is None:
        raise CommandError(f"There is nobody with the address {email}.")
    return found


def member(options: dict[str, Any]) -> Any:
    """The same, of those who belong to the workspace that the options mean. Raises CommandError."""
    found, here = person(options), workspace(options)
    if found and here.pk not in {each.pk for each in gate.workspaces_of(found)}:
        raise CommandError(f"{found.email} is no member of {here.slug}: nobody else asks for it.")
    return found


def public_id(person: Any) -> str:
    """How the ledger names whoever runs the command."""
    return person.public_id if person else "system"
