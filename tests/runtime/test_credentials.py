"""Agents' credentials: shown once, kept as a digest, scoped, signed, ended at once."""

from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import RequestFactory

from approvals import departures, rows
from approvals.ledger import bearers, entries
from approvals.people import Person
from runtime import credentials, definitions
from runtime.credentials import AgentCredential
from runtime.definitions import Agent
from tests import cast as casting
from tests.clock import set_forward


@pytest.fixture
def agent(db: None) -> Agent:
    northwind = casting.assemble().northwind
    return definitions.register_agent(northwind.pk, "refund-desk", "scripted", {}, by="system")


def _asks(secret: str) -> Any:
    return credentials.agent_of(RequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"}))


def test_a_credential_speaks_for_its_agent_and_workspace(agent: Agent) -> None:
    made, secret = credentials.create(agent, by="system")
    caller = _asks(secret)
    assert (caller.name, caller.workspace_id, caller.credential_id) == ("refund-desk", agent.workspace_id, made.pk)


def test_the_secret_is_long_and_nowhere_in_the_database(agent: Agent) -> None:
    """CH-B116: 256 random bits, of which only the digest and the first signs are kept."""
    made, secret = credentials.create(agent, by="system")
    assert secret.startswith("plk_") and len(secret) == 47
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(c)::text FROM runtime_agentcredential c")
        assert secret[8:] not in cursor.fetchone()[0]
    told = str(list(entries.read(agent.workspace_id, "workspace")))
    assert made.public_id in told and secret[8:] not in told


def test_a_revoked_credential_opens_nothing_from_then_on(agent: Agent) -> None:
    made, secret = credentials.create(agent, by="system")
    assert credentials.revoke(made, by="system") is True
    assert credentials.revoke(made, by="system") is False
    assert _asks(secret) is None
    kinds = [entry["kind"] for entry in entries.read(agent.workspace_id, "workspace")]
    assert kinds.count("credential.created") == kinds.count("credential.revoked") == 1


def test_what_asks_for_somebody_ends_when_they_leave(agent: Agent) -> None:
    """AZ-7: they know the secret. What asks for nobody goes on."""
    dana = Person.objects.get(name__startswith="Dana")
    _, hers = credentials.create(agent, requester_id=dana.pk, by="system")
    _, nobodys = credentials.create(agent, by="system")
    departures.deactivate(dana, by="system")
    assert _asks(hers) is None and _asks(nobodys) is not None


def test_a_credential_ends_by_itself(agent: Agent, db: None) -> None:
    _, secret = credentials.create(agent, days=1, by="system")
    assert _asks(secret) is not None
    set_forward(86401)
    assert _asks(secret) is None


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "other"},
        {"revoked_at": None},
        {"expires_at": None},
        {"requester_id": None},
        {"agent_id": "other"},
    ],
)
def test_a_row_that_somebody_wrote_past_placet_opens_nothing(agent: Agent, change: dict[str, Any]) -> None:
    """A forged, revived or lent credential has no code that holds."""
    other = definitions.register_agent(agent.workspace_id, "other", "scripted", {}, by="system")
    known = Person.objects.get(name="Riley Chen")
    made, secret = credentials.create(agent, requester_id=known.pk, days=1, by="system")
    if "revoked_at" in change:
        credentials.revoke(made, by="system")
    forged = {"agent_id": other.pk} if "agent_id" in change else change
    if "digest" in change:
        secret = "plk_mine"
        forged = {"digest": bearers.hashed(secret)}
    AgentCredential.objects.filter(pk=made.pk).update(**forged)
    assert _asks(secret) is None


def test_an_agent_that_is_switched_off_is_known_no_more(agent: Agent) -> None:
    _, secret = credentials.create(agent, by="system")
    Agent.objects.update(is_active=False)
    assert _asks(secret) is None


def test_the_command_makes_lists_and_ends_them(agent: Agent) -> None:
    shown = StringIO()
    words = {"workspace": "northwind", "stdout": shown, "stderr": StringIO()}
    call_command("credentials", "create", "refund-desk", email="riley@northwind.example", label="cron", **words)
    secret = shown.getvalue().strip()
    made = AgentCredential.objects.get()
    assert _asks(secret).requester_id == made.requester_id is not None
    listed = StringIO()
    call_command("credentials", "list", workspace="northwind", stdout=listed)
    assert made.public_id in listed.getvalue() and "in use" in listed.getvalue()
    assert secret[8:] not in listed.getvalue()
    call_command("credentials", "revoke", made.public_id, workspace="northwind", stdout=StringIO())
    assert _asks(secret) is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("create", "nobody"), "no agent nobody"),
        (("create", "refund-desk", "--for", "eve@x.example"), "nobody with the address"),
        (("create", "refund-desk", "--days", "0"), "whole number from 1"),
        (("create", "refund-desk", "--per-minute", "0"), "whole number from 1"),
        (("rotate", rows.public_id("crd", UUID(int=7))), "no credential"),
        (("revoke", rows.public_id("crd", UUID(int=7))), "no credential"),
        (("revoke", "x"), "no credential"),
    ],
)
def test_a_slip_is_told_in_a_sentence(agent: Agent, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("credentials", *words, workspace="northwind")
