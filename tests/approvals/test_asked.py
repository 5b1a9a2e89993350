"""What the machine itself asks people: who may settle it, what they may say, and what it hears."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from approvals import gate, people, policies, rows
from approvals.approvals import Approval, Resolution
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import canonical, entries
from runtime import definitions
from tests.cast import POLICY, Cast, ask, refund, say

VARIABLES: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"amount": {"type": "integer", "minimum": 1}, "ticket": {"type": "string"}},
}
TWO_OF_FINANCE = """
  - id: asked
    match: {{kind: {kind}}}
    verdict: require_approval
    approvals: [{{team: finance, count: 2}}]
"""
CHOICES = ("it_happened", "send_again", "abandon")


@pytest.fixture
def agent(cast: Cast) -> str:
    """The refund desk, which Omar operates; its public id."""
    desk = definitions.register_agent(cast.northwind.pk, "refund-desk", "scripted", {}, by="system")
    people.grant(cast.omar, "operate", desk, by="system")
    return desk.public_id


def put(cast: Cast, agent: str, kind: str, **more: Any) -> gate.Held:
    run = rows.public_id("run", rows.uuid7())
    kinds: dict[str, dict[str, Any]] = {
        "breakpoint": {"allowed_decisions": ("approve", "edit", "reject"), "editable": ("/amount",)},
        "question": {"allowed_decisions": ("respond",), "schema": {"type": "string", "maxLength": 20}},
        "outcome": {"allowed_decisions": ("choose",), "options": CHOICES, "schema": {}},
        "budget": {"allowed_decisions": ("approve", "edit", "reject"), "editable": ("/amount",)},
    }
    facts = kinds[kind]
    asked = {"schema": VARIABLES, "title": "Go on?", "value": canonical.encode({"amount": 5, "ticket": "4471"})}
    named = {"subject": f"{run}:{kind}:3", "chain": run, "agent": "refund-desk", "agent_id": agent, "kind": kind}
    with rows.within(cast.northwind):
        return gate.ask(gate.Asked(workspace_id=cast.northwind.pk, **(asked | named | facts | more)))


def opened(held: gate.Held) -> Approval:
    key = rows.parse_id("apr", held.approval_id or "")
    assert key is not None, held.reason
    return Approval.objects.get(pk=key)


def answered(approval: Approval) -> gate.Answer | gate.NotCleared:
    return gate.answer(approval.workspace_id, approval.subject)


def test_those_who_operate_the_agent_settle_it(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    """Nobody else may, neither by rank nor by another right."""
    approval = opened(put(cast, agent, "breakpoint"))
    for other in (cast.dana, cast.riley, cast.oskar):
        refused = say(approval, other, "approve")
        assert isinstance(refused, Refused) and refused.code == "not_allowed"
        assert "refund-desk’s operators" in refused.message
    assert isinstance(say(approval, cast.omar, "approve"), Decided)
    assert [(told.kind, told.status, told.person) for told in heard] == [
        ("breakpoint", "approved", cast.omar.public_id)
    ]


def test_a_right_that_was_taken_away_stops_counting(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    """Rights are read at the click, and again when the value takes effect."""
    approval = opened(put(cast, agent, "breakpoint"))
    say(approval, cast.omar, "approve")
    digest = heard[0].digest or ""
    assert isinstance(gate.clearance(approval.workspace_id, approval.subject, digest), gate.Cleared)
    desk = definitions.agent_named(cast.northwind.pk, "refund-desk")
    assert desk is not None
    people.revoke(cast.omar, "operate", desk, by="system")
    late = gate.clearance(approval.workspace_id, approval.subject, digest)
    assert isinstance(late, gate.NotCleared) and late.code == "votes_fall_short"


def test_policy_may_name_a_team_for_a_kind(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    rule = (
        "  - {id: pauses, match: {kind: breakpoint}, verdict: require_approval, approvals: [{team: finance, count: 2}]}"
    )
    policies.load(cast.northwind, POLICY + rule, by="system")
    approval = opened(put(cast, agent, "breakpoint"))
    refused = say(approval, cast.omar, "approve")
    assert isinstance(refused, Refused) and refused.code == "not_allowed"
    say(approval, cast.dana, "approve")
    say(approval, cast.priya, "approve")
    assert heard[0].status == "approved"


def test_a_rule_for_a_kind_does_not_touch_calls(cast: Cast, heard: list[Resolution]) -> None:
    rule = "\n  - {id: pauses, match: {kind: breakpoint}, verdict: require_approval, approvals: [{team: finance}]}"
    policies.load(cast.northwind, POLICY.replace("rules:", "rules:" + rule), by="system")
    assert ask(cast, refund()).rule_id == "refunds"


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"verdict": "allow"}, "/rules/0/verdict"),
        ({"editable": ["/amount"]}, "/rules/0/editable"),
        ({"match": {"kind": "call"}}, "/rules/0/match/kind"),
    ],
)
def test_a_rule_for_a_kind_says_who_is_asked_and_nothing_else(more: dict[str, Any], pointer: str) -> None:
    rule = {"id": "pauses", "match": {"kind": "budget"}, "verdict": "require_approval", "approvals": [{"team": "x"}]}
    if more.get("verdict"):
        del rule["approvals"]
    with pytest.raises(policies.PolicyFault) as fault:
        policies.read_document(canonical.encode({"policy": 1, "rules": [rule | more]}))
    assert fault.value.pointer.startswith(pointer)


def test_an_edit_keeps_to_what_is_open(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    approval = opened(put(cast, agent, "breakpoint"))
    refused = say(approval, cast.omar, "edit", edited={"amount": 5, "ticket": "1"})
    assert isinstance(refused, Refused) and refused.pointer == "/ticket"
    refused = say(approval, cast.omar, "edit", edited={"amount": 0, "ticket": "4471"})
    assert isinstance(refused, Refused) and refused.pointer == "/amount"
    assert isinstance(say(approval, cast.omar, "edit", edited={"amount": 9, "ticket": "4471"}), Decided)
    cleared = gate.clearance(approval.workspace_id, approval.subject, heard[0].digest or "")
    assert isinstance(cleared, gate.Cleared) and cleared.args == b'{"amount":9,"ticket":"4471"}'
    assert cleared.header["kind"] == "breakpoint"


def test_a_response_is_held_to_its_schema(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    approval = opened(put(cast, agent, "question"))
    for wrong in (b"7", b"not json", canonical.encode("x" * 21)):
        refused = say(approval, cast.omar, "respond", response=wrong)
        assert isinstance(refused, Refused) and refused.code == "invalid_response", wrong
    assert isinstance(say(approval, cast.omar, "respond", response=b'"the blue one"'), Decided)
    assert [(told.status, told.response) for told in heard] == [("answered", b'"the blue one"')]
    answer = answered(approval)
    assert isinstance(answer, gate.Answer) and (answer.response, answer.by_name) == (b'"the blue one"', "Omar Haddad")


def test_a_choice_is_one_of_the_options(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    approval = opened(put(cast, agent, "outcome"))
    refused = say(approval, cast.omar, "choose", choice="shrug")
    assert isinstance(refused, Refused) and refused.code == "unknown_choice"
    assert isinstance(say(approval, cast.omar, "choose", choice="it_happened"), Decided)
    assert [(told.status, told.choice) for told in heard] == [("answered", "it_happened")]
    told = gate.resolution(approval.workspace_id, approval.subject)
    assert told is not None and told.choice == "it_happened"


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [("question", "approve"), ("outcome", "approve"), ("breakpoint", "respond"), ("budget", "choose")],
)
def test_nothing_is_decided_that_was_not_offered(cast: Cast, agent: str, kind: str, verdict: str) -> None:
    refused = say(opened(put(cast, agent, kind)), cast.omar, verdict, response=b'"x"', choice="abandon")
    assert isinstance(refused, Refused) and refused.code == "decision_not_allowed"


def test_only_answers_that_agree_count_together(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    policies.load(cast.northwind, POLICY + TWO_OF_FINANCE.format(kind="outcome"), by="system")
    approval = opened(put(cast, agent, "outcome"))
    say(approval, cast.dana, "choose", choice="send_again")
    assert isinstance(again := say(approval, cast.dana, "choose", choice="send_again"), Refused)
    assert again.code == "already_voted"
    say(approval, cast.priya, "choose", choice="abandon")
    assert not heard
    say(approval, cast.dana, "choose", choice="abandon")
    assert [told.choice for told in heard] == ["abandon"]
    assert isinstance(answered(approval), gate.Answer)


def test_one_answer_ends_it(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    """DU-L15, DU-L17, DU-L19: a second one is told that it comes too late."""
    approval = opened(put(cast, agent, "question"))
    say(approval, cast.omar, "respond", response=b'"one"')
    late = say(approval, cast.omar, "respond", response=b'"two"')
    assert isinstance(late, Refused) and (late.code, len(heard)) == ("too_late", 1) and "answered" in late.message


def test_a_forged_answer_is_none(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    """DU-L31."""
    approval = opened(put(cast, agent, "outcome"))
    Approval.objects.filter(pk=approval.pk).update(status="answered", choice="it_happened")
    assert isinstance(forged := answered(approval), gate.NotCleared) and forged.code == "tampered"
    Approval.objects.filter(pk=approval.pk).update(status="pending", choice="")
    say(approval, cast.omar, "choose", choice="abandon")
    decision = Decision.objects.get()
    decision.choice = "it_happened"
    assert not decision.holds()


@pytest.mark.parametrize("column", ["kind", "response_schema"])
def test_what_was_asked_cannot_be_changed_in_the_database(cast: Cast, agent: str, column: str) -> None:
    """DU-L31: kind and schema are signed with the revision."""
    approval = opened(put(cast, agent, "question"))
    Approval.objects.filter(pk=approval.pk).update(**{column: {"kind": "call", "response_schema": {}}[column]})
    refused = say(approval, cast.omar, "respond", response=b"7")
    assert isinstance(refused, Refused) and refused.code == "tampered"


def test_what_nobody_could_answer_is_not_asked(cast: Cast, agent: str) -> None:
    held = put(cast, agent, "question", team="nobody")
    assert held.verdict == "deny" and "no team nobody" in held.reason
    held = put(cast, agent, "question", schema={"type": "strong"})
    assert held.verdict == "deny" and "schema" in held.reason and not Approval.objects.exists()


def test_a_team_may_be_asked_by_name(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    approval = opened(put(cast, agent, "question", team="finance"))
    assert isinstance(say(approval, cast.dana, "respond", response=b'"yes"'), Decided)


def test_the_ledger_says_what_was_asked_and_chosen(cast: Cast, agent: str, heard: list[Resolution]) -> None:
    approval = opened(put(cast, agent, "outcome"))
    say(approval, cast.omar, "choose", choice="abandon")
    told = {entry["kind"]: entry for entry in entries.read(cast.northwind.pk, approval.chain)}
    assert told["approval.opened"]["approval_kind"] == "outcome"
    assert told["decision.made"]["choice"] == told["approval.answered"]["choice"] == "abandon"


def test_an_answer_to_a_call_stands_for_its_result(cast: Cast, heard: list[Resolution]) -> None:
    """AP: `respond` only where the rule allows it."""
    approval = ask(cast, refund())
    assert isinstance(no := say(approval, cast.dana, "respond", response=b"{}"), Refused)
    assert no.code == "decision_not_allowed"
    opens = POLICY.replace("editable:", "allowed_decisions: [approve, respond, reject]\n    editable:")
    policies.load(cast.northwind, opens, by="system")
    approval = ask(cast, refund())
    assert isinstance(say(approval, cast.dana, "respond", response=b'{"refund": "by hand"}'), Decided)
    assert (heard[-1].status, heard[-1].response) == ("answered", b'{"refund":"by hand"}')


def test_a_kind_that_nobody_knows_is_refused_by_the_database(cast: Cast) -> None:
    approval = ask(cast, refund())
    with pytest.raises(IntegrityError), transaction.atomic():
        Approval.objects.filter(pk=approval.pk).update(kind="whim")
