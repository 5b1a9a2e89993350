"""Agents' credentials: how a program outside shows that it speaks for an agent. It may start, read and withdraw runs;
it never decides.

Of the secret only its hash is kept (`approvals.ledger.bearers`). The row is signed with a key that is not in the
database; who can write rows still cannot make a credential. An old row that is put back opens nothing either: what the
ledger ended stays ended (`runtime.issued`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import models
from django.http import HttpRequest

from approvals import gate, rows
from approvals.ledger import bearers, canonical, entries, keys
from approvals.ledger.about import Broken
from approvals.rows import wire
from runtime import issued
from runtime.definitions import Agent

log = logging.getLogger(__name__)

HEAD: Final = "plk_"


class CannotRotate(Exception):
    """The credential has ended already, or has a successor; the message says which."""


class AgentCredential(rows.Row):
    """One secret of one agent. ``requester`` is the person on whose behalf its runs ask: they cannot approve them.
    ``follows`` is the one whose place it takes; ``runs_per_minute`` how many runs it may start at most, if that is less
    than its agent may."""

    PREFIX = "crd"

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="credentials", db_constraint=False)
    requester = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    label = models.CharField(max_length=80, blank=True)
    shown = models.CharField(max_length=bearers.SHOWN)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    follows = models.OneToOneField("self", models.PROTECT, null=True, related_name="successor", db_constraint=False)
    runs_per_minute = models.PositiveIntegerField(null=True)
    mac = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.shown}…"

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("credential", _signed(self), bytes(self.mac))


@dataclass(frozen=True)
class Caller:
    """The agent that a request speaks for, with its workspace, and the credential that shows it."""

    workspace_id: UUID
    agent: Agent
    credential_id: UUID
    requester_id: UUID | None
    runs_per_minute: int | None = None
    line_id: UUID | None = None
    """The first of the credentials that took each other's place: those have one limit together."""

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def public_id(self) -> str:
        return self.agent.public_id


def _signed(credential: AgentCredential) -> bytes:
    requester, expires, revoked = credential.requester_id, credential.expires_at, credential.revoked_at
    fields: dict[str, Any] = {
        "id": credential.pk.hex,
        "workspace": credential.workspace_id.hex,
        "agent": credential.agent_id.hex,
        "requester": requester.hex if requester else None,
        "digest": credential.digest,
        "expires": expires.isoformat() if expires else None,
        "revoked": revoked.isoformat() if revoked else None,
    }
    # Only where they say something, so that what was signed before there were such words still holds.
    fields |= {"follows": credential.follows_id.hex} if credential.follows_id else {}
    fields |= {"per_minute": credential.runs_per_minute} if credential.runs_per_minute else {}
    return canonical.encode(fields)


# Questions


def claimed(request: HttpRequest) -> bool:
    """Whether the request says that it comes from a machine: it has an Authorization header, of whatever kind."""
    return "Authorization" in request.headers


def agent_of(request: HttpRequest) -> Caller | None:
    """The agent whose valid credential the request carries as ``Authorization: Bearer plk_…``; None for any other."""
    secret = bearers.carried(request, HEAD)
    return None if secret is None else _caller(bearers.hashed(secret))


def _caller(digest: str) -> Caller | None:
    for workspace_id in _WORKSPACE_OF(digest):
        rows.enter(workspace_id)
    usable = models.Q(expires_at=None) | models.Q(expires_at__gt=rows.Now())
    known = AgentCredential.objects.select_related("agent").annotate(read_at=rows.Now())
    credential = known.filter(usable, digest=digest, revoked_at=None).first()
    if credential is None or not _proved(credential, credential.read_at) or not credential.agent.is_active:
        return None
    limit = credential.runs_per_minute
    line_id = wire.rows(_LINE, {"credential": credential.pk})[-1][0] if limit and credential.follows_id else None
    return Caller(credential.workspace_id, credential.agent, credential.pk, credential.requester_id, limit, line_id)


_LINE: Final = """
    WITH RECURSIVE line AS (
        SELECT id, follows_id, 1 AS nth FROM runtime_agentcredential WHERE id = %(credential)s
        UNION ALL SELECT c.id, c.follows_id, nth + 1 FROM runtime_agentcredential c JOIN line ON c.id = line.follows_id
            WHERE nth < 10000)
    SELECT id FROM line ORDER BY nth
"""


def _proved(credential: AgentCredential, at: datetime) -> bool:
    """Whether the row is as it was written, and the ledger has not ended what it stands for."""
    try:
        return credential.holds() and issued.in_force(credential.workspace_id, credential.public_id, at)
    except Broken as fault:
        log.error("an agent is turned away: its workspace's ledger proves nothing. %s", fault)
        return False


def state_of(credential: AgentCredential) -> str:
    """How it stands, in a word: in use, replaced (and good for a while), over, revoked, or forged."""
    replaced = AgentCredential.objects.filter(follows=credential).exists()
    return state_at(credential, rows.now(), issued.told(credential.workspace_id), replaced=replaced)


def state_at(credential: AgentCredential, now: datetime, told: issued.Told, *, replaced: bool) -> str:
    """The same, by what is known already of the time, the ledger and a successor."""
    try:
        if not credential.holds():
            return "forged"
    except keys.UnknownKey:
        return "forged"
    if credential.revoked_at is not None:
        return "revoked"
    if credential.expires_at is not None and credential.expires_at <= now:
        return "over"
    if not told.in_force(credential.public_id, now):
        return "forged"
    return "replaced" if replaced else "in use"


_WORKSPACE_OF = rows.entrance(
    "placet_workspace_of_credential",
    "text",
    query="SELECT c.workspace_id FROM public.runtime_agentcredential c WHERE c.digest = $1",
)


# Verbs


def create(
    agent: Agent,
    *,
    label: str = "",
    requester_id: UUID | None = None,
    days: int | None = None,
    runs_per_minute: int | None = None,
    by: str,
) -> tuple[AgentCredential, str]:
    """A new credential for an agent, and its secret, which is nowhere else: whoever loses it needs another one."""
    expires = rows.now() + timedelta(days=days) if days else None
    with rows.within(agent.workspace_id):
        more = {"label": label, "requester_id": requester_id, "runs_per_minute": runs_per_minute}
        return _issue(agent, by, expires_at=expires, **more)


def _issue(agent: Agent, by: str, **fields: Any) -> tuple[AgentCredential, str]:
    """Draw a secret and write its row, in the open transaction."""
    secret = bearers.drawn(HEAD)
    known = {"shown": secret[: bearers.SHOWN], "digest": bearers.hashed(secret)}
    credential = AgentCredential(workspace_id=agent.workspace_id, agent=agent, **known, **fields)
    credential.mac = keys.sign("credential", _signed(credential))
    credential.save(force_insert=True)
    expires, limit = credential.expires_at, credential.runs_per_minute
    more = {"until": issued.instant(expires)} if expires else {}
    more |= {"runs_per_minute": str(limit)} if limit else {}
    _record("credential.created", credential, by, **more)
    return credential, secret


def rotate(
    credential: AgentCredential, *, overlap: timedelta, days: int | None = None, by: str
) -> tuple[AgentCredential, str]:
    """A successor with a secret of its own, for the same agent, person and limit. The old secret is good for the
    overlap, so that whoever sends it has time to change, and never for longer than it was before. Without ``days`` the
    new one lasts as long as the old one was made for. Raises CannotRotate.
    """
    with rows.within(credential.workspace_id):
        held = AgentCredential.objects.select_for_update().get(pk=credential.pk)
        _check_rotates(held)
        now = rows.now()
        length = timedelta(days=days) if days else held.expires_at - held.created_at if held.expires_at else None
        made, secret = _issue(
            held.agent,
            by,
            follows=held,
            label=held.label,
            requester_id=held.requester_id,
            runs_per_minute=held.runs_per_minute,
            expires_at=now + length if length else None,
        )
        held.expires_at = min(now + overlap, held.expires_at or now + overlap)
        held.mac = keys.sign("credential", _signed(held))
        held.save(update_fields=["expires_at", "mac"])
        until = issued.instant(held.expires_at)
        _record("credential.rotated", held, by, successor=made.public_id, until=until)
    return made, secret


def _check_rotates(held: AgentCredential) -> None:
    state = state_of(held)
    if state != "in use":
        told = "It has a successor already: rotate that one." if state == "replaced" else f"It is {state}."
        raise CannotRotate(told)


def revoke(credential: AgentCredential, *, by: str) -> bool:
    """End a credential at once and for good. False if it was ended before. Its runs go on: they are the agent's."""
    with rows.within(credential.workspace_id):
        held = AgentCredential.objects.select_for_update().get(pk=credential.pk)
        ended = bearers.revoked(held, _signed)
        if ended:
            _record("credential.revoked", held, by)
    return ended


def _of_who_leaves(person: Any, workspace: Any, by: str) -> None:
    """What asks on somebody's behalf ends when they leave: they know the secret."""
    for credential in AgentCredential.objects.filter(workspace=workspace, requester=person, revoked_at=None):
        revoke(credential, by=by)


gate.LEAVING.append(_of_who_leaves)


def _told_of_who_leaves(person: Any, workspace: Any) -> str:
    live = AgentCredential.objects.filter(workspace=workspace, requester=person, revoked_at=None)
    count = live.exclude(expires_at__lte=rows.now()).count()
    words = "credential that asks" if count == 1 else "credentials that ask"
    return f"{count} {words} on their behalf {'is' if count == 1 else 'are'} revoked." if count else ""


gate.TELLS.append(_told_of_who_leaves)


def _record(kind: str, credential: AgentCredential, by: str, **more: str) -> None:
    requester = credential.requester_id
    body = {
        "credential": credential.public_id,
        "agent": credential.agent.public_id,
        "shown": credential.shown,
        "requester": rows.public_id("per", requester) if requester else "",
    }
    entries.append(credential.workspace_id, "workspace", kind, body | more, by=by)
