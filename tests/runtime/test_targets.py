"""What a call points to is looked at when people are asked and again before it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals import policies, revisions
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import entries
from runtime import calls, definitions, evidence, invariants, lookups, promises, targets, timeline, tools
from runtime.calls import Call
from runtime.runs import Run
from runtime.tools import Use, tool
from tests import cast as casting
from tests.runtime.conftest import POLICY, Desk
from tests.tampering import Tamper

WORLD: dict[str, Any] = {}
SENT: list[dict[str, Any]] = []
PAY = {
    "type": "object",
    "properties": {"account": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["account", "amount"],
}
RULE = """  - id: pays
    match: {tool: targets.pay}
    verdict: require_approval
    approvals: [{team: finance}]
    deadline: 1h
"""


@tool("targets.balance", schema={"type": "object", "properties": {"of": {"type": "string"}}}, effect="pure")
def balance(args: dict[str, Any], use: Use) -> Any:
    if "away" in WORLD:
        raise tools.Refused("The bank is closed.")
    return WORLD[args["of"]]


@tool("targets.pay", schema=PAY, effect="keyed", target={"tool": "targets.balance", "args": {"of": "/account"}})
def pay(args: dict[str, Any], use: Use) -> Any:
    SENT.append(args)
    return {"paid": args["amount"]}


@pytest.fixture
def bank(desk: Desk) -> Desk:
    """A desk that pays out of accounts with a balance."""
    WORLD.clear()
    SENT.clear()
    WORLD.update(acc_1=0, acc_2=5)
    for each in (balance, pay):
        definitions.register_function(desk.cast.northwind.pk, each, by="system")
    policies.load(desk.cast.northwind, POLICY + RULE, by=desk.cast.omar.public_id, author=desk.cast.omar)
    return desk


def proposed(bank: Desk) -> tuple[Run, Call]:
    run = bank.begin([{"tool": "targets.pay", "args": {"account": "acc_1", "amount": 7}, "reason": "Because."}])
    return run, bank.calls(run)[0]


def test_what_is_as_it_was_is_sent(bank: Desk) -> None:
    """BD-7: also after an edit of something else."""
    run, held = proposed(bank)
    assert bank.say(held, bank.cast.dana, "edit", edited={"account": "acc_1", "amount": 5}) == Decided(
        "approved", 2, 1, 1
    )
    assert bank.work(run).status == "completed" and SENT == [{"account": "acc_1", "amount": 5}]


def test_what_changed_meanwhile_is_asked_about_again(bank: Desk) -> None:
    """BD-7, CH-B129: the balance went from 0 to 50,000 between the yes and the sending."""
    run, held = proposed(bank)
    bank.say(held, bank.cast.dana, "approve")
    WORLD["acc_1"] = 50_000
    bank.work(run)
    first, second = Approval.objects.filter(subject=held.public_id).order_by("created_at")
    assert (SENT, second.status, second.asked_again) == ([], "pending", first)
    bank.say(held, bank.cast.dana, "approve")
    bank.work(run)
    assert SENT == [{"account": "acc_1", "amount": 7}]


def lose(monkeypatch: pytest.MonkeyPatch, *answers: tools.Answer) -> None:
    """The next sendings of the payment do not arrive, and bring these answers."""
    real, left = tools.send, list(answers)

    def send(kind: str, config: Any, secret: bytes, args: bytes, use: Use) -> tools.Answer:
        pays = config["function"].endswith("pay")
        return left.pop(0) if left and pays else real(kind, config, secret, args, use)

    monkeypatch.setattr(tools, "send", send)


def pays_as(bank: Desk, effect: str, **ours: Any) -> None:
    """Give the payment another effect, and these promises."""
    known = next(each for each in tools.registered() if each.definition["name"] == "targets.pay")
    definition = {**known.definition, "placet": {**known.definition["placet"], "effect": effect, **ours}}
    how: dict[str, Any] = {"kind": "function", "config": {"function": known.path}, "by": "system"}
    definitions.register_tool(bank.cast.northwind.pk, definition, effect=effect, **how)


NOT_REACHED = tools.Answer(tools.FAILED_BEFORE, message="not reached", note="not reached", passing=True)
NO_ANSWER = tools.Answer(tools.LOST, note="No answer came.")


def approved_and_lost(bank: Desk, monkeypatch: pytest.MonkeyPatch, answer: tools.Answer) -> tuple[Run, Call]:
    """A payment that was approved, sent, and brought this answer; then the balance changed."""
    run, held = proposed(bank)
    bank.say(held, bank.cast.dana, "approve")
    lose(monkeypatch, answer)
    bank.work(run)
    WORLD["acc_1"] = 50_000
    return run, held


def test_what_changed_while_the_tool_was_out_of_reach_is_asked_about_again(
    bank: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BD-7, CH-B129: a sending that reached nothing is as none; it is sent once people have said yes to what is."""
    run, held = approved_and_lost(bank, monkeypatch, NOT_REACHED)
    assert bank.wait_out(run).status == "suspended_approval" and SENT == []
    held.refresh_from_db()
    [told] = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "call.asked_again"]
    assert (held.status, told["reason"], invariants.offenders()) == ("held", targets.CHANGED, [])
    assert timeline.doubts(run) == []
    assert Approval.objects.latest("created_at").public_id == told["approval"]
    bank.say(held, bank.cast.dana, "edit", edited={"account": "acc_1", "amount": 5})
    assert bank.work(run).status == "completed" and SENT == [{"account": "acc_1", "amount": 5}]
    assert (invariants.offenders(), list(evidence.unproven(run.workspace_id))) == ([], [])


def test_what_people_approved_again_after_a_sending_can_be_stopped(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DS-1: nothing came of the first sending, and the next one waits for the worker."""
    run, held = approved_and_lost(bank, monkeypatch, NOT_REACHED)
    bank.wait_out(run)
    bank.say(held, bank.cast.dana, "approve")
    assert isinstance(bank.say(held, bank.cast.priya, "stop", message="Too much."), Decided)
    assert bank.work(run).status == "completed" and SENT == []
    held.refresh_from_db()
    assert held.status == "refused" and timeline.doubts(run) == []
    assert (invariants.offenders(), list(evidence.unproven(run.workspace_id))) == ([], [])


def test_a_no_to_what_reached_nothing_leaves_no_doubt(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """BD-7, DU-S9: the agent is told that it was refused, and not that it may have happened."""
    run, held = approved_and_lost(bank, monkeypatch, NOT_REACHED)
    bank.wait_out(run)
    bank.say(held, bank.cast.dana, "reject", message="Not any more.")
    assert bank.work(run).status == "completed" and SENT == []
    [result] = bank.results(run)
    assert (result["status"], result["message"]) == ("refused", "Not any more.")
    assert (invariants.offenders(), list(evidence.unproven(run.workspace_id))) == ([], [])


def test_an_unchanged_target_does_not_keep_a_retry(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = approved_and_lost(bank, monkeypatch, NOT_REACHED)
    WORLD["acc_1"] = 0
    assert bank.wait_out(run).status == "completed" and len(SENT) == 1


def test_what_may_have_arrived_is_repeated_whatever_it_changed(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """BD-7: the new balance may be the payment's own, which the key keeps from being made twice."""
    run, _ = approved_and_lost(bank, monkeypatch, NO_ANSWER)
    assert bank.wait_out(run).status == "completed" and len(SENT) == 1


def test_what_a_lookup_does_not_find_is_asked_about_again(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """BD-7, DU-S6: it surely did not arrive, so it is as one that was never sent."""
    pays_as(bank, "lookup", lookup={"tool": "targets.balance"})
    monkeypatch.setattr(lookups, "look", lambda *_: lookups.Sighting(lookups.ABSENT))
    run, held = approved_and_lost(bank, monkeypatch, NO_ANSWER)
    assert bank.wait_out(run).status == "suspended_approval" and SENT == []
    assert (invariants.offenders(), timeline.doubts(run)) == ([], [])
    bank.say(held, bank.cast.dana, "approve")
    assert bank.work(run).status == "completed" and len(SENT) == 1
    assert (invariants.offenders(), list(evidence.unproven(run.workspace_id))) == ([], [])


def test_what_people_have_sent_again_is_looked_at_too(bank: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """BD-7: whoever has it sent again does not say yes to what nobody looked at."""
    pays_as(bank, "unsafe")
    run, held = approved_and_lost(bank, monkeypatch, NO_ANSWER)
    assert bank.wait_out(run).status == "suspended_approval"
    asked = Approval.objects.filter(kind="outcome").latest("created_at")
    casting.say(asked, bank.cast.omar, "choose", choice="send_again")
    assert bank.work(run).status == "suspended_approval" and SENT == []
    bank.say(held, bank.cast.dana, "approve")
    assert bank.work(run).status == "completed" and len(SENT) == 1
    assert (invariants.offenders(), list(evidence.unproven(run.workspace_id))) == ([], [])


def test_no_row_sends_a_call_back_to_people_that_may_have_arrived(bank: Desk, tamper: Tamper) -> None:
    """T31: by the ledger nobody is asked about it."""
    run, held = proposed(bank)
    bank.say(held, bank.cast.dana, "approve")
    bank.work(run)
    tamper("UPDATE runtime_call SET status = 'held' WHERE id = %s", held.pk)
    assert any("nobody had it sent again" in fault for fault in evidence.unproven(run.workspace_id))


def test_an_edit_cannot_point_elsewhere(bank: Desk) -> None:
    """BD-7: nobody looked there."""
    _, held = proposed(bank)
    answer = bank.say(held, bank.cast.dana, "edit", edited={"account": "acc_2", "amount": 7})
    assert isinstance(answer, Refused) and (answer.code, answer.pointer) == ("invalid_edit", "/account")
    assert not Decision.objects.exists()


def test_what_cannot_be_read_before_the_sending_waits(bank: Desk) -> None:
    """BD-7: it is neither sent unseen nor lost."""
    run, held = proposed(bank)
    bank.say(held, bank.cast.dana, "approve")
    WORLD["away"] = True
    bank.work(run)
    held.refresh_from_db()
    assert (SENT, held.status, bank.work(run).status) == ([], "cleared", "sleeping")
    del WORLD["away"]
    assert bank.wait_out(run).status == "completed" and len(SENT) == 1


def test_what_cannot_be_read_when_it_is_proposed_is_refused(bank: Desk) -> None:
    """BD-7: people are not asked about what nobody can look at."""
    WORLD["away"] = True
    run, held = proposed(bank)
    assert (held.status, Approval.objects.count(), run.status) == ("refused", 0, "completed")
    assert calls.message_of(held).startswith("What it points to could not be read.")


def test_the_header_says_where_it_points_and_nothing_of_what_was_found(bank: Desk) -> None:
    """BD-1, BD-7: it is a part of what people vote on."""
    _, held = proposed(bank)
    approval = Approval.objects.get(subject=held.public_id)
    target = revisions.current_revision(approval).ruling.header["target"]
    assert (target["of"], target["by"], len(target["code"])) == (["/account"], "targets.balance", 68)


@pytest.mark.parametrize(
    "header",
    ["header - 'target'", "jsonb_set(header, '{target,code}', '\"00\"')"],
    ids=["taken out", "changed"],
)
def test_a_pin_that_was_changed_past_placet_lets_nothing_go(bank: Desk, tamper: Tamper, header: str) -> None:
    """BD-7, T31: it is signed with what people voted on."""
    run, held = proposed(bank)
    bank.say(held, bank.cast.dana, "approve")
    WORLD["acc_1"] = 50_000
    tamper(f"UPDATE approvals_ruling SET header = {header} WHERE subject = %s", held.public_id)
    bank.work(run)
    held.refresh_from_db()
    assert (SENT, held.status) == ([], "refused")


def test_the_page_says_whether_it_is_looked_at_again(bank: Desk) -> None:
    """BD-7: and warns where it is not."""
    client, (_, held) = Client(), proposed(bank)
    client.force_login(bank.cast.dana, backend="django.contrib.auth.backends.ModelBackend")
    other = bank.calls(bank.begin([{"tool": "asked.keyed", "args": {"n": 1}, "reason": "Because."}]))[0]
    pages = []
    for one in (held, other):
        approval = Approval.objects.get(subject=one.public_id)
        pages.append(client.get(f"/w/northwind/approvals/{approval.public_id}").content.decode())
    assert "was looked up by targets.balance" in pages[0] and "may change until it is sent" in pages[1]


@pytest.mark.parametrize(
    "target",
    [
        "x",
        {"tool": "x"},
        {"tool": 1, "args": {"a": "/a"}},
        {"tool": "x", "args": {}},
        {"tool": "x", "args": {"a": "a"}},
        {"tool": "x", "args": {"a": 1}},
        {"tool": "x", "args": {"a": "/a"}, "more": 1},
    ],
    ids=["text", "alone", "number", "none", "no pointer", "no text", "more"],
)
def test_a_target_that_cannot_be_understood_is_refused(target: Any) -> None:
    with pytest.raises(ValueError):
        promises.admit({"target": target}, "keyed")
