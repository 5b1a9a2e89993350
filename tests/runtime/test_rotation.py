"""An agent's credential is exchanged while it is in use: a successor, an overlap, and an end that stays an end."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from approvals import rows
from approvals.ledger import entries
from approvals.people import Person
from runtime import credentials, definitions, evidence
from runtime.credentials import AgentCredential, CannotRotate
from runtime.definitions import Agent
from tests import cast as casting
from tests.clock import set_forward as later

HOUR = timedelta(hours=1)


@pytest.fixture
def agent(db: None) -> Agent:
    northwind = casting.assemble().northwind
    rows.enter(northwind)
    return definitions.register_agent(northwind.pk, "refund-desk", "scripted", {}, by="system")


def opens(secret: str) -> bool:
    asked = RequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})
    return credentials.agent_of(asked) is not None


def row_of(credential: AgentCredential) -> dict[str, Any]:
    """Every column, as somebody with a copy of the table has it."""
    names = ("expires_at", "revoked_at", "mac")
    return AgentCredential.objects.filter(pk=credential.pk).values(*names).get()


def test_both_secrets_are_good_for_the_overlap_and_then_only_the_new_one(agent: Agent) -> None:
    """CH-B116: nobody is cut off by an exchange, and nobody goes on with the old secret."""
    old, before = credentials.create(agent, by="system")
    new, after = credentials.rotate(old, overlap=HOUR, by="system")
    assert opens(before) and opens(after) and new.follows_id == old.pk
    later(3601)
    assert not opens(before) and opens(after)


def test_a_successor_is_for_the_same_agent_person_limit_and_length(agent: Agent) -> None:
    person = Person.objects.get(name="Riley Chen")
    more: dict[str, Any] = {"label": "cron", "requester_id": person.pk, "runs_per_minute": 5, "days": 30}
    old, _ = credentials.create(agent, by="system", **more)
    new, _ = credentials.rotate(old, overlap=HOUR, by="system")
    for name in ("agent_id", "label", "requester_id", "runs_per_minute"):
        assert getattr(new, name) == getattr(old, name)
    assert new.expires_at and timedelta(days=29) < new.expires_at - rows.now() <= timedelta(days=30)


def test_an_overlap_never_makes_a_secret_good_for_longer(agent: Agent) -> None:
    old, before = credentials.create(agent, days=1, by="system")
    credentials.rotate(old, overlap=timedelta(days=9), by="system")
    later(86401)
    assert not opens(before)


def test_one_credential_has_one_successor(agent: Agent) -> None:
    old, _ = credentials.create(agent, by="system")
    new, _ = credentials.rotate(old, overlap=HOUR, by="system")
    with pytest.raises(CannotRotate, match="successor already"):
        credentials.rotate(old, overlap=HOUR, by="system")
    assert credentials.revoke(new, by="system")
    with pytest.raises(CannotRotate, match="revoked"):
        credentials.rotate(new, overlap=HOUR, by="system")
    assert AgentCredential.objects.count() == 2


def test_the_ledger_says_which_follows_which_and_until_when(agent: Agent) -> None:
    old, _ = credentials.create(agent, by="system")
    new, _ = credentials.rotate(old, overlap=HOUR, by="system")
    told = entries.read(agent.workspace_id, "workspace", only=["credential.rotated"])
    assert [(each["credential"], each["successor"]) for each in told] == [(old.public_id, new.public_id)]
    assert told[0]["until"].endswith("Z")


@pytest.mark.parametrize("end", ["revoked", "rotated"])
def test_an_old_row_that_is_put_back_opens_nothing(agent: Agent, end: str) -> None:
    """AU-2, CH-B116: its code holds, for it was written by us once; the ledger has ended it since."""
    made, secret = credentials.create(agent, by="system")
    kept = row_of(made)
    if end == "revoked":
        credentials.revoke(made, by="system")
    else:
        credentials.rotate(made, overlap=timedelta(0), by="system")
    AgentCredential.objects.filter(pk=made.pk).update(**kept)
    later(1)
    assert AgentCredential.objects.get(pk=made.pk).holds() and not opens(secret)
    found = [said for said in evidence.unproven(agent.workspace_id) if made.public_id in said]
    assert len(found) == 1 and "was ended" in found[0]


@pytest.mark.parametrize("change", [{"runs_per_minute": None}, {"follows": None}])
def test_a_limit_and_a_line_of_succession_are_signed(agent: Agent, change: dict[str, Any]) -> None:
    old, _ = credentials.create(agent, runs_per_minute=1, by="system")
    new, secret = credentials.rotate(old, overlap=HOUR, by="system")
    AgentCredential.objects.filter(pk=new.pk).update(**change)
    assert not opens(secret)


def test_the_command_rotates_and_says_how_each_stands(agent: Agent) -> None:
    quiet: dict[str, Any] = {"workspace": "northwind", "stderr": StringIO()}
    call_command("credentials", "create", "refund-desk", per_minute=7, stdout=StringIO(), **quiet)
    old = AgentCredential.objects.get()
    shown = StringIO()
    call_command("credentials", "rotate", old.public_id, overlap=2, stdout=shown, **quiet)
    assert opens(shown.getvalue().strip())
    listed = StringIO()
    call_command("credentials", "list", workspace="northwind", stdout=listed)
    assert "replaced, until" in listed.getvalue() and "in use, until" in listed.getvalue()
    assert listed.getvalue().count("7 a minute") == 2
    with pytest.raises(CommandError, match="successor already"):
        call_command("credentials", "rotate", old.public_id, stdout=StringIO(), **quiet)
    later(7201)
    listed = StringIO()
    call_command("credentials", "list", workspace="northwind", stdout=listed)
    assert "over, until" in listed.getvalue()
