"""Who runs a command, and in which workspace: what several commands of this app ask for in the same words."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from approvals import people, rows, workspaces
from approvals.people import Membership, Person, Workspace


def add_workspace(*parsers: ArgumentParser, required: bool = False) -> None:
    """Add ``--workspace``."""
    told = None if required else "needed where there is more than one"
    for parser in parsers:
        parser.add_argument("--workspace", required=required, metavar="SLUG", help=told)


def workspace(slug: str | None) -> Workspace:
    """The workspace that is named, or the only one where none is. Raises CommandError."""
    found = workspaces.only() if slug is None else workspaces.named(slug)
    if found is None:
        raise CommandError(
            "Say which workspace: --workspace SLUG." if slug is None else f"There is no workspace {slug}."
        )
    return found


def person(email: str | None) -> Person | None:
    """The active person who is named, or None where nobody is. Raises CommandError for an address that nobody has."""
    found = None if email is None else people.named(email)
    if email is not None and found is None:
        raise CommandError(f"There is nobody with the address {email}.")
    return found


def anybody(email: str) -> Person:
    """The person with this address, switched off or not. Raises CommandError."""
    found = Person.objects.at(email)
    if found is None:
        raise CommandError(f"There is nobody with the address {email}.")
    return found


def member(email: str | None, home: Workspace) -> Person | None:
    """The active member of a workspace who is named, or None where nobody is. Raises CommandError for another."""
    found = person(email)
    with rows.reading(home):
        if found and not Membership.objects.filter(workspace=home, person=found).exists():
            raise CommandError(f"{email} is no member of {home.slug}.")
    return found
