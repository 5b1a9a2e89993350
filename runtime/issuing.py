"""Issuing: how somebody who administers a workspace gives an agent a credential, exchanges it for another, or ends it.
The command and the page of an agent both come here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef

from approvals import gate, rows
from approvals.gate import Refused
from runtime import credentials, issued
from runtime.credentials import AgentCredential
from runtime.definitions import Agent

YEAR: Final = 365
LABEL_MOST: Final = 80
SHOWN: Final = 50
"""So many credentials of an agent are listed, the newest first."""


@dataclass(frozen=True)
class Wish:
    """What a credential is for: a few words, on whose behalf its runs ask, how many days it lasts, and how many runs it
    starts a minute at most."""

    label: str = ""
    email: str = ""
    days: int = YEAR
    per_minute: int | None = None


Made = tuple[AgentCredential, str]
"""A credential and its secret, which is nowhere else."""


# Questions


def listed(agent: Agent) -> list[tuple[AgentCredential, str]]:
    """The agent's credentials, those in use in front, each with how it stands. Raises ledger.about.Broken."""
    successor = AgentCredential.objects.filter(follows=OuterRef("pk"))
    found = AgentCredential.objects.filter(agent=agent).select_related("requester").annotate(replaced=Exists(successor))
    told, now = issued.told(agent.workspace_id), rows.now()
    shown: Any = found.order_by("-created_at")[:SHOWN]
    states = [(one, credentials.state_at(one, now, told, replaced=one.replaced)) for one in shown]
    return sorted(
        states, key=lambda one: ("in use", "replaced").index(one[1]) if one[1] in {"in use", "replaced"} else 2
    )


# Verbs


def issue(workspace: Any, agent: Agent, wish: Wish, *, by: Any) -> Made | Refused:
    """A new credential for an agent; ``by`` None is an operator at the command line."""
    if refused := _not_allowed(workspace, by) or _invalid("/days", wish.days, 1, 3650):
        return refused
    if wish.per_minute is not None and (refused := _invalid("/per_minute", wish.per_minute, 1, 1_000_000)):
        return refused
    requester = gate.person_named(wish.email) if wish.email else None
    if wish.email and requester is None:
        return Refused("unknown_person", f"There is nobody with the address {wish.email}.", pointer="/email")
    if requester and gate.workspace_of(requester, workspace.slug) is None:
        told = f"{wish.email} is no member of {workspace.slug}: nobody else asks for it."
        return Refused("no_member", told, pointer="/email")
    return credentials.create(
        agent,
        label=wish.label[:LABEL_MOST],
        requester_id=requester.pk if requester else None,
        days=wish.days,
        runs_per_minute=wish.per_minute,
        by=_named(by),
    )


def exchange(
    workspace: Any, credential: AgentCredential, *, hours: int, days: int | None = None, by: Any
) -> Made | Refused:
    """A successor with a secret of its own; the old one is good for so many hours more at most."""
    if refused := _not_allowed(workspace, by) or _invalid("/overlap", hours, 0, 30 * 24):
        return refused
    if days is not None and (refused := _invalid("/days", days, 1, 3650)):
        return refused
    try:
        return credentials.rotate(credential, overlap=timedelta(hours=hours), days=days, by=_named(by))
    except credentials.CannotRotate as fault:
        return Refused("cannot_rotate", str(fault))


def end(workspace: Any, credential: AgentCredential, *, by: Any) -> Refused | None:
    """End a credential at once and for good."""
    if by is not None and not gate.may(by, "administer", workspace):  # to stop is never the wrong way
        return NOT_ALLOWED
    if not credentials.revoke(credential, by=_named(by)):
        return Refused("revoked_before", "It was revoked before.")
    return None


NOT_ALLOWED: Final = Refused("not_allowed", "Only those who administer the workspace may give out credentials.")


def _not_allowed(workspace: Any, by: Any) -> Refused | None:
    return None if by is None or gate.vouched_may(by, "administer", workspace) else NOT_ALLOWED


def _invalid(pointer: str, given: int, low: int, high: int) -> Refused | None:
    if low <= given <= high:
        return None
    return Refused("invalid", f"A whole number from {low:,} to {high:,}.", pointer=pointer)


def _named(by: Any) -> str:
    return by.public_id if by else "system"
