"""The desk as pure steps: what it proposes, and what it tells the customer for each way a call can end."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime import tools
from runtime.agents.agent import CallResult, ProposedCall, Question, Step, check
from runtime.demo import catalogue, shop
from runtime.demo.desk import desk, money
from runtime.state import changes, encode, fold


class Played:
    """A run of the desk in which the world answers by `ends`: tool to (status, value, message, changed arguments)."""

    def __init__(self, ticket: str, **ends: dict[str, Any]) -> None:
        self.state: dict[str, Any] = {"input": {"ticket": ticket}}
        self.calls: list[ProposedCall] = []
        self.ends = {name.replace("__", "."): end for name, end in ends.items()}
        node: str = desk.entry
        results: tuple[CallResult, ...] = ()
        for _ in range(10):
            step = check(desk.step(node, json.loads(json.dumps(self.state)), results))
            self._keep(step)
            if step.done:
                return
            results, node = tuple(self._end(call) for call in step.calls), step.goto
        pytest.fail("the desk does not come to an end")

    def _keep(self, step: Step) -> None:
        operations = changes(step.update, step.append, step.remove)
        encode({"ops": operations})
        fold(self.state, json.loads(json.dumps(operations)))
        self.calls += [call for call in step.calls if isinstance(call, ProposedCall)]

    def _end(self, call: ProposedCall | Question) -> CallResult:
        if isinstance(call, Question):
            said = {"status": "answered", "value": {"amount": 2000}, "by": "Dana"}
            return CallResult("call_1", "", {"question": call.text}, **self.ends.get("question", said))
        end = {"status": "executed", **self.ends.get(call.tool, {})}
        args = {**call.args, **end.pop("edited", {})}
        return CallResult("call_1", call.tool, args, value=end.pop("value", None) or self._value(call), **end)

    def _value(self, call: ProposedCall) -> Any:
        if call.tool == "tickets.read":
            return shop.ticket(Path("/nowhere"), call.args["ticket"])
        return {**self.state["ticket"]["charge"], "refunded": 0} if call.tool == "payments.get_charge" else {}

    @property
    def tools(self) -> list[str]:
        return [call.tool for call in self.calls]

    def proposed(self, tool: str) -> dict[str, Any]:
        return next(call.args for call in self.calls if call.tool == tool)


def test_it_looks_before_it_proposes_and_answers_afterwards() -> None:
    """AP-P6: each call is proposed once; the desk never repeats a node."""
    run = Played("T-4478")
    assert run.tools == ["tickets.read", "payments.get_charge", "payments.create_refund", "tickets.reply"]
    assert run.proposed("payments.create_refund")["amount"] == 124000
    assert run.state["outcome"] == "The customer was answered."


def test_an_approver_sees_the_customers_words_and_the_desks_reason() -> None:
    """AP-X9: the reason names customer and amounts; the messages stand beside it."""
    run = Played("T-4471")
    reason = next(call.reason for call in run.calls if call.tool == "payments.create_refund")
    assert "Brightwater Interiors asks for €310.00 (wrong item)." in reason
    assert [message["role"] for message in run.state["messages"]] == ["customer", "agent"]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({}, "We have sent €310.00 back"),
        ({"edited": {"amount": 20000}}, "You asked for €310.00. After a second look we have sent €200.00"),
        ({"status": "refused", "message": "The lamp was used"}, "We cannot give €310.00 back. The lamp was used."),
        ({"status": "expired", "message": "Nobody decided in time."}, "Nobody has been able to look at your €310.00"),
        ({"status": "failed", "message": "503"}, "Sending €310.00 back did not work."),
        ({"status": "unknown"}, "We do not know yet whether €310.00 has reached you."),
    ],
)
def test_the_customer_is_told_what_happened(end: dict[str, Any], told: str) -> None:
    """AP-E8, AP-R4, AP-R8: edited, rejected with its reason, expired, failed and unknown are five different answers."""
    text = Played("T-4471", payments__create_refund=end).proposed("tickets.reply")["text"]
    assert told in text
    assert text.startswith("Dear Brightwater Interiors,")


def test_only_what_is_left_of_a_charge_is_proposed() -> None:
    before = {"value": {"id": "ch_88213", "amount": 31000, "currency": "EUR", "refunded": 30000}}
    assert Played("T-4471", payments__get_charge=before).proposed("payments.create_refund")["amount"] == 1000


def test_nothing_is_proposed_for_a_charge_that_went_back_in_full() -> None:
    before = {"value": {"id": "ch_88213", "amount": 31000, "currency": "EUR", "refunded": 31000}}
    run = Played("T-4471", payments__get_charge=before)
    assert "payments.create_refund" not in run.tools
    assert "nothing left to refund" in run.proposed("tickets.reply")["text"]


def test_a_refused_wish_beside_a_refund_is_told_with_its_reason() -> None:
    """AP-P8: a call that policy refuses takes nothing away from the other calls of its step."""
    refused = {"status": "refused", "message": "An account is closed by a person, never by an agent."}
    text = Played("T-4490", payments__close_account=refused).proposed("tickets.reply")["text"]
    assert "We have sent €9.00 back" in text
    assert "We have not closed your account. An account is closed by a person, never by an agent." in text


def test_a_copy_is_proposed_beside_the_answer_and_never_in_its_place() -> None:
    """AP-P8, AP-X9: who gets it and why is said; a copy that is refused leaves the answer as it was."""
    run = Played("T-4495", mail__send={"status": "refused", "message": "Ask them to write themselves"})
    assert run.tools[-2:] == ["tickets.reply", "mail.send"]
    assert run.proposed("mail.send")["to"] == "ledger@kestrel-accounts.example"
    told = "The customer was answered. No copy is known to have gone out. Ask them to write themselves."
    assert run.state["outcome"] == told
    assert Played("T-4495").state["outcome"].endswith("A copy went to ledger@kestrel-accounts.example.")


@pytest.mark.parametrize("tool", ["tickets__read", "payments__get_charge"])
def test_it_stops_where_it_cannot_look(tool: str) -> None:
    run = Played("T-4471", **{tool: {"status": "failed", "message": "It was sent, and no answer came."}})
    assert run.state["outcome"].endswith("It was sent, and no answer came.")
    assert "payments.create_refund" not in run.tools


def test_every_proposal_keeps_the_tools_own_schema() -> None:
    """AP-E1: the desk's arguments have the types the payments service asks for, hidden characters and all."""
    import jsonschema

    schemas = {offer["definition"]["name"]: offer["definition"]["inputSchema"] for offer in catalogue.ENDPOINTS}
    schemas |= {known.definition["name"]: known.definition["inputSchema"] for known in tools.registered()}
    calls = [call for ticket in shop.tickets(Path("/nowhere")) for call in Played(ticket["number"]).calls]
    checks = {tool: jsonschema.validators.validator_for(schema)(schema) for tool, schema in schemas.items()}
    assert {call.tool for call in calls} >= {"tickets.read", "payments.create_refund"}
    assert [call for call in calls if not checks[call.tool].is_valid(call.args)] == []


def test_cents_are_read_as_money() -> None:
    assert [money(5, "EUR"), money(124000, "EUR"), money(100, "SEK")] == ["€0.05", "€1,240.00", "SEK 1.00"]


@pytest.mark.parametrize(
    ("end", "refunded", "told"),
    [
        ({"status": "answered", "value": {"amount": 2000}, "by": "Dana Okafor"}, 2000, "We have sent €20.00 back"),
        ({"status": "refused", "message": "It was sold as scratched"}, None, "It was sold as scratched."),
        ({"status": "expired"}, None, "We cannot offer you a part of the price."),
    ],
)
def test_a_customer_who_leaves_the_amount_to_the_shop_is_a_question(
    end: dict[str, Any], refunded: int | None, told: str
) -> None:
    run = Played("T-4502", question=end)
    assert run.proposed("tickets.reply")["text"].count(told) == 1
    assert ("payments.create_refund" in run.tools) == (refunded is not None)
    assert refunded is None or run.proposed("payments.create_refund")["amount"] == refunded
