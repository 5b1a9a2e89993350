"""Agents and tools as rows: versions, digests, signatures, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import gate
from approvals.ledger import canonical, entries
from runtime import definitions, tools
from runtime.definitions import Agent, Tool, offers
from tests.cast import Cast, assemble
from tests.runtime import tooling
from tests.runtime.conftest import Desk
from tests.runtime.test_checkpoints import tamper

DEFINITION = {
    "name": "shop.sell",
    "title": "Sell",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}
FUNCTION = {"function": "tests.runtime.tooling.free.pure"}


@pytest.fixture
def cast(db: None) -> Cast:
    return assemble()


def register(cast: Cast, definition: dict[str, Any] = DEFINITION, **more: Any) -> Tool:
    facts: dict[str, Any] = {"kind": "function", "config": FUNCTION, "effect": "keyed", "by": "system"}
    return definitions.register_tool(cast.northwind.pk, definition, **(facts | more))


def test_a_tool_is_kept_with_its_digest_and_signature(cast: Cast) -> None:
    tool = register(cast, summary="Sell {/n}", risk="high")
    assert tool.holds() and tool.digest == canonical.sha256_hex(bytes(tool.definition))
    facts = definitions.facts(tool)
    assert (facts.title, facts.summary, facts.effect, facts.risk) == ("Sell", "Sell {/n}", "keyed", "high")
    assert facts.schema == DEFINITION["inputSchema"] and facts.definition_digest == tool.digest


def test_the_same_definition_again_changes_nothing(cast: Cast) -> None:
    assert register(cast).pk == register(cast).pk and Tool.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"effect": "unsafe"},
        {"summary": "Sell it all"},
        {"config": {"function": "tests.runtime.tooling.free.keyed"}},
        {"definition": {**DEFINITION, "description": "More."}},
        {"definition": {**DEFINITION, "placet": {"timeout_seconds": 5}}},
    ],
)
def test_whatever_changes_makes_a_new_version_and_another_digest(cast: Cast, change: dict[str, Any]) -> None:
    """What people approve covers where a call goes and how often it may be sent, not the schema alone."""
    first = register(cast)
    second = register(cast, **change)
    first.refresh_from_db()
    assert (second.version, second.is_active, first.is_active) == (2, True, False) and second.digest != first.digest
    assert definitions.tool_named(cast.northwind.pk, "shop.sell") == second


@pytest.mark.parametrize("column", ["name", "kind", "effect", "version"])
def test_a_row_that_somebody_changed_does_not_hold(cast: Cast, column: str) -> None:
    tool = register(cast)
    setattr(tool, column, 9 if column == "version" else "other")
    assert not definitions.genuine(tool)


def test_a_row_copied_to_another_workspace_does_not_hold(cast: Cast) -> None:
    tool = register(cast)
    tool.workspace_id = cast.halden.pk
    assert not definitions.genuine(tool)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"effect": "harmless"}, "no effect class"),
        ({"kind": "http", "config": {"url": "http://shop.example/"}}, "https"),
        ({"definition": {**DEFINITION, "placet": {"timeout_seconds": 0}}}, "timeout_seconds"),
        ({"definition": {**DEFINITION, "placet": {"timeout_seconds": True}}}, "timeout_seconds"),
        ({"definition": {"name": "x"}}, "inputSchema"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_with_a_sentence(cast: Cast, change: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        register(cast, **change)
    assert not Tool.objects.exists()


def test_a_secret_is_sealed_and_stays_with_the_tool(cast: Cast) -> None:
    first = register(cast, secret=b"a secret of thirty-two bytes, ok")
    assert b"secret of" not in bytes(first.secret)
    second = register(cast, effect="unsafe")
    assert (
        definitions.signing_secret(second) == definitions.signing_secret(first) == b"a secret of thirty-two bytes, ok"
    )
    third = register(cast, effect="unsafe", secret=b"b" * 32)
    assert third.pk != second.pk and definitions.signing_secret(third) == b"b" * 32
    assert len(definitions.signing_secret(register(cast, {**DEFINITION, "name": "shop.buy"}))) == 32


def test_warnings_of_the_admission_are_kept(cast: Cast) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "format": "rare"}}}
    tool = register(cast, {**DEFINITION, "inputSchema": schema})
    assert any(warning["pointer"].startswith("/inputSchema") for warning in tool.warnings)


def test_all_offers_are_taken_or_none(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [definitions.offer({**DEFINITION, "name": name}, kind="http", config={}, effect="unsafe") for name in "ab"]
    original = offers._register

    def second_fails(workspace_id: Any, offered: definitions.Offer, by: str) -> Tool:
        if offered.definition["name"] == "b":
            raise RuntimeError("the disk is full")
        return original(workspace_id, offered, by)

    monkeypatch.setattr(offers, "_register", second_fails)
    with pytest.raises(RuntimeError):
        definitions.register_offers(cast.northwind.pk, made, by="system")
    assert not Tool.objects.exists()


def test_registrations_stand_in_the_workspaces_chain(desk: Desk) -> None:
    kinds = [entry["kind"] for entry in entries.read(desk.cast.northwind.pk, "workspace")]
    assert "agent.registered" in kinds and kinds.count("tool.registered") == len(tooling.EFFECTS) * 3


def test_a_new_definition_of_an_agent_is_a_new_version_of_the_same_one(cast: Cast) -> None:
    """Rights hang on the agent, and stay."""
    first = definitions.register_agent(cast.northwind.pk, "player", "scripted", {}, by="system")
    second = definitions.register_agent(cast.northwind.pk, "player", "scripted", {"steps": []}, by="system")
    assert (first.pk, second.version, second.versions.count()) == (second.pk, 2, 2)
    assert Agent.objects.count() == 1 and definitions.agent_named(cast.northwind.pk, "player") == second
    assert definitions.agent_named(cast.halden.pk, "player") is None


def test_an_agents_definition_that_somebody_changed_parks_its_runs(desk: Desk) -> None:
    run = desk.start([])
    tamper("UPDATE runtime_agentversion SET kind = 'graph'")
    desk.work(run)
    assert (run.status, run.reason_code) == ("parked", "unreadable")


def test_a_tool_whose_row_was_changed_is_refused_when_it_is_proposed(desk: Desk) -> None:
    tamper('UPDATE runtime_tool SET config = \'{"function": "os.system"}\'')
    run = desk.begin([{"tool": "free.pure", "args": {"n": 1}}])
    assert desk.results(run)[0]["status"] == "refused" and "not as it was written" in desk.results(run)[0]["message"]


def test_functions_are_described_where_they_are_written() -> None:
    paths = [known.path for known in tools.registered()]
    assert FUNCTION["function"] in paths and paths == [known.path for known in tools.registered()]


def test_admission_goes_through_the_gate() -> None:
    with pytest.raises(gate.Inadmissible) as refusal:
        definitions.offer({"name": "x", "inputSchema": {"type": "string"}}, kind="http", config={}, effect="unsafe")
    assert refusal.value.pointer == "/inputSchema/type"
