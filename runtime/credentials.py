"""Agents' credentials: how a program outside shows that it speaks for an agent. It may start, read and withdraw runs;
it never decides.

The secret is shown once and kept as SHA-256 only: it has 256 random bits, so there is nothing to slow down. The row is
signed with a key that is not in the database; who can write rows still cannot make a credential.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import models
from django.http import HttpRequest

from approvals import rows
from approvals.ledger import canonical, entries, keys
from runtime.definitions import Agent

HEAD: Final = "plk_"
SHOWN: Final = 8
"""So many first characters are kept, by which people tell credentials apart."""


class AgentCredential(rows.Row):
    """One secret of one agent. ``requester`` is the person on whose behalf its runs ask: they cannot approve them."""

    PREFIX = "crd"

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="credentials", db_constraint=False)
    requester = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    label = models.CharField(max_length=80, blank=True)
    shown = models.CharField(max_length=SHOWN)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
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

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def public_id(self) -> str:
        return self.agent.public_id


def _signed(credential: AgentCredential) -> bytes:
    requester, expires, revoked = credential.requester_id, credential.expires_at, credential.revoked_at
    fields = {
        "id": credential.pk.hex,
        "workspace": credential.workspace_id.hex,
        "agent": credential.agent_id.hex,
        "requester": requester.hex if requester else None,
        "digest": credential.digest,
        "expires": expires.isoformat() if expires else None,
        "revoked": revoked.isoformat() if revoked else None,
    }
    return canonical.encode(fields)


# Questions


def claimed(request: HttpRequest) -> bool:
    """Whether the request says that it comes from a machine: it has an Authorization header, of whatever kind."""
    return "Authorization" in request.headers


def agent_of(request: HttpRequest) -> Caller | None:
    """The agent whose valid credential the request carries as ``Authorization: Bearer plk_…``; None for any other."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return _caller(secret.strip()) if scheme.lower() == "bearer" else None


def _caller(secret: str) -> Caller | None:
    if not secret.startswith(HEAD) or len(secret) > 200:
        return None
    for workspace_id in _WORKSPACE_OF(_digest(secret)):
        rows.enter(workspace_id)
    usable = models.Q(expires_at=None) | models.Q(expires_at__gt=rows.Now())
    known = AgentCredential.objects.select_related("agent").filter(usable, digest=_digest(secret), revoked_at=None)
    credential = known.first()
    if credential is None or not credential.holds() or not credential.agent.is_active:
        return None
    return Caller(credential.workspace_id, credential.agent, credential.pk, credential.requester_id)


_WORKSPACE_OF = rows.entrance(
    "placet_workspace_of_credential",
    "text",
    query="SELECT c.workspace_id FROM public.runtime_agentcredential c WHERE c.digest = $1",
)


def _digest(secret: str) -> str:
    return canonical.sha256_hex(secret.encode("utf-8", "replace"))


# Verbs


def create(
    agent: Agent, *, label: str = "", requester_id: UUID | None = None, days: int | None = None, by: str
) -> tuple[AgentCredential, str]:
    """A new credential for an agent, and its secret, which is nowhere else: whoever loses it needs another one."""
    secret = HEAD + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    credential = AgentCredential(
        workspace_id=agent.workspace_id,
        agent=agent,
        requester_id=requester_id,
        label=label,
        shown=secret[:SHOWN],
        digest=_digest(secret),
        expires_at=rows.now() + timedelta(days=days) if days else None,
    )
    credential.mac = keys.sign("credential", _signed(credential))
    with rows.within(agent.workspace_id):
        credential.save(force_insert=True)
        _record("credential.created", credential, by)
    return credential, secret


def revoke(credential: AgentCredential, *, by: str) -> bool:
    """End a credential at once and for good. False if it was ended before. Its runs go on: they are the agent's."""
    with rows.within(credential.workspace_id):
        held = AgentCredential.objects.select_for_update().get(pk=credential.pk)
        if held.revoked_at is not None:
            return False
        held.revoked_at = rows.now()
        held.mac = keys.sign("credential", _signed(held))
        held.save(update_fields=["revoked_at", "mac"])
        _record("credential.revoked", held, by)
    return True


def _record(kind: str, credential: AgentCredential, by: str) -> None:
    requester = credential.requester_id
    body = {
        "credential": credential.public_id,
        "agent": credential.agent.public_id,
        "shown": credential.shown,
        "requester": rows.public_id("per", requester) if requester else "",
    }
    entries.append(credential.workspace_id, "workspace", kind, body, by=by)
