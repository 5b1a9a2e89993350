"""Every state that the pages of the machine's matters can be in, made on one desk: a path for each, by name.

Nothing is pretended: a worker really dies behind a sending, a deadline really runs out, a policy really changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from approvals import gate, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided
from approvals.ledger import canonical
from runtime import definitions, retention, runs, tools
from runtime.agents.agent import ProposedCall, Step
from runtime.agents.graph import Graph
from runtime.runs import Run
from tests import cast as casting
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out
from tests.runtime.test_questions import ask
from tests.runtime.test_retries import NOT_REACHED, Sends

PLACE = "/w/northwind"
REFUNDS = """
  - id: refunds
    match: {tool: [shop.refund, shop.credit]}
    verdict: require_approval
    approvals: [{team: finance}]
    reason: Money goes out.
    deadline: 1h
"""
DOUBTS = """
  - id: doubts
    match: {kind: outcome}
    verdict: require_approval
    approvals: [{team: finance}]
    reason: Finance looks into the payments.
"""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["amount", "currency", "customer"],
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "currency": {"enum": ["eur", "usd"]},
        "customer": {"type": "string"},
        "note": {"type": "string"},
    },
}
STATE: dict[str, Any] = {
    "type": "object",
    "required": ["amount", "customer"],
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "customer": {"type": "object", "properties": {"name": {"type": "string"}, "vip": {"type": "boolean"}}},
        "note": {"type": "string"},
    },
}
OPEN = {"state_schema": STATE, "editable": ["/amount", "/note"]}
CHOICE = {"type": "string", "enum": ["Refund all of it", "Refund a half", "Send it anew"]}
FORM = {
    "type": "object",
    "required": ["amount", "carrier"],
    "properties": {
        "amount": {"type": "integer", "minimum": 1, "title": "Offer", "description": "In cents."},
        "carrier": {"type": "boolean", "title": "The carrier pays"},
        "note": {"type": "string", "title": "What the customer is told"},
    },
}

desk_graph = Graph("refunds", entry="read_ticket")


@desk_graph.node
def read_ticket(state, results):
    customer = {"name": "Ruth Lindqvist", "vip": False}
    said = {"role": "agent", "text": "Two of five pallets arrived wet."}
    update = {"amount": 124_000, "customer": customer, "note": "Two pallets\nwere wet."}
    return Step(update=update, append={"messages": [said]}, goto="refund")


@desk_graph.node
def refund(state, results):
    args = {"amount": state["amount"], "currency": "eur", "customer": state["customer"]["name"]}
    return Step(calls=[ProposedCall("free.keyed", {"n": args["amount"]}, "As agreed.")], goto="write_to_customer")


@desk_graph.node
def write_to_customer(state, results):
    return Step(update={"written": True}, goto="write_to_customer", done=True)


def refunding(amount: int = 124_000, tool: str = "shop.refund", **more: Any) -> dict[str, Any]:
    """A refund for a script."""
    args = {"amount": amount, "currency": "eur", "customer": "Acme GmbH", "note": "Two pallets arrived wet.", **more}
    return {"tool": tool, "args": args, "reason": "Two of five pallets arrived wet; the customer took the offer."}


def hang(desk: Desk, monkeypatch: Any) -> dict[str, str]:
    """Make all of it; the paths, each under the name of its state."""
    furnish(desk)
    parts = (_stops, _questions, _budgets, _unknowns, _tries, _ends)
    return {name: path for part in parts for name, path in part(desk, monkeypatch)}


def furnish(desk: Desk) -> None:
    """The shop's two tools, and the policy that asks about them."""
    omar = desk.cast.omar
    policies.load(desk.cast.northwind, POLICY + REFUNDS, by=omar.public_id, author=omar)
    definitions.register_offers(desk.cast.northwind.pk, _shop(), by="system")


@cache
def _shop() -> list[definitions.Offer]:
    """A tool that is not safe to repeat, and one that honours our key."""
    for name, effect in (("shop.refund", "unsafe"), ("shop.credit", "keyed")):
        act = name.partition(".")[2].capitalize()
        summary = act + " {/amount|money:/currency} to {/customer}"
        tools.tool(name, schema=SCHEMA, title=act, effect=effect, summary=summary)(_named(name))
    known = [each for each in tools.registered() if each.path.startswith(__name__)]
    return [
        definitions.offer(
            each.definition, kind="function", config={"function": each.path}, effect=each.effect, summary=each.summary
        )
        for each in known
    ]


def _named(name: str) -> Any:
    def pay(args: dict[str, Any], use: tools.Use) -> Any:
        return {"id": "re_8Kd02mQvTz", "amount": args["amount"], "status": "succeeded"}

    pay.__qualname__ = name
    return pay


def _of_run(run: Run) -> str:
    return f"{PLACE}/runs/{run.public_id}"


def path_of(approval: Approval) -> str:
    """The address of its page."""
    return f"{PLACE}/approvals/{approval.public_id}"


def last(run: Run) -> Approval:
    """What people were asked last in the run."""
    return Approval.objects.filter(chain=run.public_id).latest("created_at")


def _say(desk: Desk, run: Run, verdict: str, **more: Any) -> Approval:
    """Omar decides what the run waits for, and a worker goes on with it."""
    approval = last(run)
    answer = casting.say(approval, desk.cast.omar, verdict, **more)
    assert isinstance(answer, Decided), answer
    desk.work(run)
    return approval


# Breakpoints


def _walk(desk: Desk, **definition: Any) -> Run:
    agent = definitions.register_agent(
        desk.cast.northwind.pk, "refund-desk", "graph", {"graph": "refunds", **definition}, by="system"
    )
    people.grant(desk.cast.omar, "operate", agent, by="system")
    riley: dict[str, Any] = {"by": desk.cast.riley.public_id, "requester_id": desk.cast.riley.pk}
    return desk.work(runs.start(desk.cast.northwind.pk, agent, input={}, title="Ticket 4471", **riley))


def _stops(desk: Desk, _: Any) -> Iterator[tuple[str, str]]:
    run = _walk(desk, interrupt_before=["refund"], **OPEN)
    yield "stop", path_of(last(run))
    yield "stop-edit", path_of(last(run)) + "/edit"
    yield "stop-run", _of_run(run)
    yield "checkpoint", _of_run(run) + "/checkpoints/2"
    yield "checkpoint-all", _of_run(run) + "/checkpoints/2?show=all"
    yield "checkpoint-place", _of_run(run) + "/checkpoints/2?show=all&at=/messages"
    yield "checkpoint-wrong", _of_run(run) + "/checkpoints/2?with=9"
    first = _walk(desk, interrupt_before=["read_ticket"], **OPEN)
    yield "stop-first", path_of(last(first))
    changed = _walk(desk, interrupt_before=["refund"], **OPEN)
    edited = {"amount": 90_000, "customer": {"name": "Ruth Lindqvist", "vip": False}, "note": "Two pallets were wet."}
    yield "stop-passed", path_of(_say(desk, changed, "edit", edited=edited, message="The offer was €900."))
    yield "stop-passed-run", _of_run(changed)
    ended = _walk(desk, interrupt_before=["refund"], **OPEN)
    yield "stop-ended", path_of(_say(desk, ended, "reject", message="The customer withdrew."))
    yield "stop-ended-run", _of_run(ended)
    steered = _walk(desk, human_input_mode="ALWAYS")
    _say(desk, steered, "respond", response=canonical.encode("Offer a replacement first."))
    yield "steer", path_of(last(steered))
    yield "steer-run", _of_run(steered)
    finishing = _walk(desk, human_input_mode="TERMINATE")
    yield "finish", path_of(last(finishing))
    waited = _walk(desk, interrupt_before=["refund"], **OPEN)
    Approval.objects.filter(chain=waited.public_id).update(expires_at=rows.now())
    gate.expire_due()
    desk.work(waited)
    yield "stop-expired", path_of(last(waited))
    yield "parked-run", _of_run(waited)
    resumed = _walk(desk, interrupt_before=["refund"], **OPEN)
    Approval.objects.filter(chain=resumed.public_id).update(expires_at=rows.now())
    gate.expire_due()
    desk.work(resumed)
    runs.resume(resumed, by=desk.cast.omar.public_id)
    desk.work(resumed)
    yield "resumed-run", _of_run(resumed)


# Questions


def _questions(desk: Desk, _: Any) -> Iterator[tuple[str, str]]:
    about = {"ticket": 4471, "customer": "Acme GmbH"}
    text = desk.begin([ask("How shall I word the apology?", about=about)])
    yield "question-text", path_of(last(text))
    yield "question-run", _of_run(text)
    choice = desk.begin([ask("Which of the three offers may I make?", about=about, response_schema=CHOICE)])
    yield "question-choice", path_of(last(choice))
    form = desk.begin([ask("What may I offer for two wet pallets?", about=about, response_schema=FORM)])
    yield "question-form", path_of(last(form))
    answered = desk.begin([ask("What may I offer for two wet pallets?", response_schema=FORM)])
    given = {"amount": 90_000, "carrier": True, "note": "We are sorry."}
    yield (
        "question-answered",
        path_of(_say(desk, answered, "respond", response=canonical.encode(given), message="Quick!")),
    )
    yield "question-answered-run", _of_run(answered)
    declined = desk.begin([ask("May I call them?")])
    yield "question-declined", path_of(_say(desk, declined, "reject", message="They asked us not to."))
    yield "question-declined-run", _of_run(declined)


# Budgets


def _costly(tokens: int) -> dict[str, Any]:
    return call("free.pure", tokens) | {"estimate": {"tokens": tokens, "money": tokens // 10}}


def _budgets(desk: Desk, _: Any) -> Iterator[tuple[str, str]]:
    caps = {"tokens": 10_000, "money": 2000, "currency": "EUR", "steps": 40, "seconds": 3600}
    spent = desk.begin([_costly(6000)], [_costly(7000)], budget=caps)
    yield "budget", path_of(last(spent))
    yield "budget-edit", path_of(last(spent)) + "/edit"
    yield "budget-run", _of_run(spent)
    raised = desk.begin([_costly(6000)], [_costly(17_000)], budget=caps)
    yield "budget-raised", path_of(_say(desk, raised, "approve"))
    yield "budget-raised-run", _of_run(raised)
    kept = desk.begin([_costly(6000)], [_costly(7000)], budget={"tokens": 10_000})
    yield "budget-kept", path_of(_say(desk, kept, "reject", message="Enough for today."))
    yield "budget-kept-run", _of_run(kept)


# Outcomes that nobody knows


def doubtful(desk: Desk) -> Run:
    """A run whose approved refund was sent by a worker that died."""
    run = desk.begin([refunding()], title="Ticket 4471")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve", message="Photos match.")
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    return run


def _unknowns(desk: Desk, _: Any) -> Iterator[tuple[str, str]]:
    asked_about = Approval.objects.filter(kind="call", tool="shop.refund")
    young = doubtful(desk)
    desk.work(young)
    yield "unknown-quiet-run", _of_run(young)
    run = desk.wait_out(doubtful(desk))
    yield "unknown", path_of(last(run))
    yield "unknown-run", _of_run(run)
    policies.load(desk.cast.northwind, POLICY + REFUNDS + DOUBTS, by="system")
    ruled = desk.wait_out(doubtful(desk))
    yield "unknown-others", path_of(last(ruled))
    policies.load(desk.cast.northwind, POLICY + REFUNDS, by="system")
    yield "unknown-call", path_of(asked_about.get(chain=run.public_id))
    yield "unknown-known", f"{PLACE}/calls/{desk.calls(run)[0].public_id}"
    for choice in ("it_happened", "send_again", "abandon"):
        settled = desk.wait_out(doubtful(desk))
        approval = _say(desk, settled, "choose", choice=choice, message="Seen in their dashboard: re_8Kd02mQvTz")
        yield f"unknown-{choice}", path_of(approval)
        yield f"unknown-{choice}-run", _of_run(settled)
        yield f"unknown-{choice}-call", path_of(asked_about.get(chain=settled.public_id))


# Tried again, asked again


def _tries(desk: Desk, monkeypatch: Any) -> Iterator[tuple[str, str]]:
    with monkeypatch.context() as patched:
        Sends(patched, NOT_REACHED, NOT_REACHED)
        sleeping = desk.begin([refunding(tool="shop.credit")])
        desk.say(desk.calls(sleeping)[0], desk.cast.dana, "approve")
        desk.work(sleeping)
    yield "retry-run", _of_run(sleeping)
    yield "retry-call", f"{PLACE}/calls/{desk.calls(sleeping)[0].public_id}"
    yield "retry", path_of(last(sleeping))
    with monkeypatch.context() as patched:
        Sends(patched, NOT_REACHED, NOT_REACHED)
        tried = desk.begin([refunding(tool="shop.credit")])
        desk.say(desk.calls(tried)[0], desk.cast.dana, "approve")
        desk.wait_out(tried)
    yield "retried-run", _of_run(tried)
    yield "retried", path_of(last(tried))
    again = desk.begin([refunding()])
    first = last(again)
    desk.say(desk.calls(again)[0], desk.cast.dana, "approve")
    pair = REFUNDS.replace("[{team: finance}]", "[{team: finance, count: 2}]")
    policies.load(desk.cast.northwind, POLICY + pair, by="system")
    desk.work(again)
    yield "asked-again", path_of(last(again))
    yield "asked-again-before", path_of(first)
    yield "asked-again-run", _of_run(again)
    policies.load(desk.cast.northwind, POLICY + REFUNDS, by="system")


# Ends


def _ends(desk: Desk, _: Any) -> Iterator[tuple[str, str]]:
    failed = desk.begin([{"update": {"found": "x"}}, call("free.pure", 1)], [{"tool": "no.such", "args": {}}])
    yield "refused-run", _of_run(failed)
    stopped = desk.begin([refunding()])
    runs.cancel(stopped, by=desk.cast.omar.public_id, reason="The customer withdrew.")
    desk.work(stopped)
    yield "stopped-run", _of_run(stopped)
    yield "stopped", path_of(last(stopped))
    pruned = desk.begin([call("free.pure", 1)], [call("free.pure", 2, **{"raise": "boom"})], [refunding()])
    retention.prune(pruned, by=desk.cast.omar.public_id, keep=1)
    yield "pruned-run", _of_run(pruned)
    yield "checkpoint-pruned", _of_run(pruned) + "/checkpoints/1"
    gone = desk.begin([refunding(tool="shop.credit")])
    desk.say(desk.calls(gone)[0], desk.cast.dana, "approve", message="Fine.")
    desk.work(gone)
    retention.erase(gone, by=desk.cast.omar.public_id)
    yield "erased-run", _of_run(gone)
    yield "checkpoint-erased", _of_run(gone) + "/checkpoints/2"
    yield "erased", path_of(last(gone))
    yield "erased-call", f"{PLACE}/calls/{desk.calls(gone)[0].public_id}"
    walked = _walk(desk, interrupt_before=["write_to_customer"], **OPEN)
    for number in (1, 2):
        yield f"checkpoint-{number}", f"{_of_run(walked)}/checkpoints/{number}"
    yield from _operated(desk)
    yield "runs", f"{PLACE}/runs"
    yield "runs-none", f"{PLACE}/runs?state=requires_action"
    yield "attention", f"{PLACE}/attention"
    yield "inbox", f"{PLACE}/"
    yield "settled", f"{PLACE}/?tab=settled"
    yield "history", f"{PLACE}/ledger"


def _operated(desk: Desk) -> Iterator[tuple[str, str]]:
    for agent in definitions.Agent.objects.filter(workspace=desk.cast.northwind)[:2]:
        yield f"agent-{agent.name}", f"{PLACE}/agents/{agent.public_id}"
    for tool in definitions.Tool.objects.filter(workspace=desk.cast.northwind, name__startswith="shop."):
        yield f"tool-{tool.name}", f"{PLACE}/tools/{tool.public_id}"
    for name in ("tools", "agents", "attention"):
        yield f"{name}-full", f"{PLACE}/{name}"
