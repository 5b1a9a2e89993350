"""The refund desk: an agent that reads a ticket, proposes a refund, and tells the customer what came of it.

Every node is a pure function of the run's state and of the results of the calls before it. The desk knows nothing of
approvals: it proposes, waits, and is told how each call ended.
"""

from __future__ import annotations

from typing import Any, Final

from runtime.agents.agent import CallResult, ProposedCall, Question, Step
from runtime.agents.graph import Graph

NAME: Final = "refund-desk"
SYMBOLS: Final = {"EUR": "€", "GBP": "£"}

desk: Final = Graph(NAME, entry="read")

Results = tuple[CallResult, ...]
State = dict[str, Any]


@desk.node
def read(state: State, results: Results) -> Step:
    """Fetch the ticket that the run was started for."""
    call = ProposedCall("tickets.read", {"ticket": state["input"]["ticket"]}, "The run was started for this ticket.")
    return Step(calls=[call], goto="look_up")


@desk.node
def look_up(state: State, results: Results) -> Step:
    """Fetch the charge that the ticket is about."""
    if results[0].status != "executed":
        return _stop(f"The ticket could not be read. {results[0].message}")
    ticket = results[0].value
    said = {"role": "customer", "text": f"{ticket['subject']}\n\n{ticket['message']}"}
    call = ProposedCall("payments.get_charge", {"charge": ticket["charge"]["id"]}, "To see what was paid.")
    return Step(update={"ticket": ticket}, append={"messages": [said]}, calls=[call], goto="propose")


@desk.node
def propose(state: State, results: Results) -> Step:
    """Decide what to give back, and propose it; a wish to close the account is proposed beside it. A customer who
    leaves the amount to the shop is a question for people."""
    if results[0].status != "executed":
        return _stop(f"The charge could not be looked up. {results[0].message}")
    ticket, charge = state["ticket"], results[0].value
    if not ticket["asks"]:
        return Step(update={"charge": charge}, calls=[_how_much(ticket, charge)], goto="offer")
    amount = min(ticket["asks"], charge["amount"] - charge["refunded"])
    calls = [_refund(ticket, charge, amount)] if amount > 0 else []
    if ticket["close_account"]:
        calls.append(
            ProposedCall("payments.close_account", {"customer": ticket["customer"]}, "The customer asks for it.")
        )
    said = {"role": "agent", "text": _thought(ticket, charge, amount)}
    return Step(update={"charge": charge}, append={"messages": [said]}, calls=calls, goto="answer")


@desk.node
def offer(state: State, results: Results) -> Step:
    """Propose what somebody said should be given back, or tell the customer that it is nothing."""
    said = results[0]
    if said.status != "answered":
        return _reply(state["ticket"], [f"We cannot offer you a part of the price. {_sentence(said.message)}".strip()])
    ticket, charge = {**state["ticket"], "asks": said.value["amount"]}, state["charge"]
    heard = {"role": "agent", "text": f"{said.by} offers {money(ticket['asks'], charge['currency'])}."}
    call = _refund(ticket, charge, ticket["asks"])
    return Step(update={"ticket": ticket}, append={"messages": [heard]}, calls=[call], goto="answer")


@desk.node
def answer(state: State, results: Results) -> Step:
    """Tell the customer how each call ended."""
    ticket = state["ticket"]
    lines = [_told(ticket, result) for result in results]
    if not any(result.tool == "payments.create_refund" for result in results):
        lines.insert(0, "This charge has been given back to you in full before, so there is nothing left to refund.")
    return _reply(ticket, lines)


def _reply(ticket: State, lines: list[str]) -> Step:
    text = "\n\n".join([f"Dear {ticket['customer']},", *lines, "Northwind"])
    reply = ProposedCall(
        "tickets.reply", {"ticket": ticket["number"], "text": text}, "The customer waits for an answer."
    )
    calls = [reply, _copy(ticket, lines)] if ticket["copy_to"] else [reply]
    return Step(update={"answer": text}, calls=calls, goto="finish")


@desk.node
def finish(state: State, results: Results) -> Step:
    """End the run, saying whether the customer was answered, and what became of a copy."""
    sent = results[0].status == "executed"
    told = "The customer was answered." if sent else f"The customer could not be answered. {results[0].message}".strip()
    return _stop(" ".join([told, *(_told_of_copy(result) for result in results[1:])]))


def money(cents: int, currency: str) -> str:
    """Cents as people read them: €1,240.00."""
    return f"{SYMBOLS.get(currency, currency + ' ')}{cents // 100:,}.{cents % 100:02d}"


def _stop(outcome: str) -> Step:
    return Step(update={"outcome": outcome.strip()}, done=True)


def _refund(ticket: State, charge: State, amount: int) -> ProposedCall:
    args = {
        "customer": ticket["customer"],
        "amount": amount,
        "currency": charge["currency"],
        "charge": charge["id"],
        "reason": ticket["cause"],
        "note": ticket["note"],
    }
    return ProposedCall("payments.create_refund", args, _thought(ticket, charge, amount))


def _how_much(ticket: State, charge: State) -> Question:
    left = charge["amount"] - charge["refunded"]
    amount = {"type": "integer", "minimum": 1, "maximum": left, "title": "How much to give back, in cents"}
    amount["description"] = f"{money(left, charge['currency'])} at most. Policy judges the refund as any other."
    return Question(
        f"How much shall I offer {ticket['customer']}?",
        response_schema={"type": "object", "required": ["amount"], "properties": {"amount": amount}},
        about={"ticket": ticket["number"], "message": ticket["message"], "paid": money(charge["amount"], "EUR")},
        team="finance",
    )


def _copy(ticket: State, lines: list[str]) -> ProposedCall:
    subject = f"Confirmation for {ticket['customer']}, ticket {ticket['number']}"
    text = "\n\n".join([f"{ticket['customer']} asked us to send you this for their books.", *lines, "Northwind"])
    reason = f"{ticket['customer']} asks for a confirmation to {ticket['copy_to']}, an address that is not theirs."
    return ProposedCall("mail.send", {"to": ticket["copy_to"], "subject": subject, "text": text}, reason)


def _told_of_copy(result: CallResult) -> str:
    if result.status == "executed":
        return f"A copy went to {result.args['to']}."
    return f"No copy is known to have gone out. {_sentence(result.message)}".strip()


def _thought(ticket: State, charge: State, amount: int) -> str:
    currency, before = charge["currency"], charge["refunded"]
    asks = f"{ticket['customer']} asks for {money(ticket['asks'], currency)} ({ticket['cause']})."
    paid = f"{money(charge['amount'], currency)} was paid" + (
        f", {money(before, currency)} went back before." if before else "."
    )
    return f"{asks} {paid} " + (
        f"I propose {money(amount, currency)}." if amount > 0 else "Nothing is left to give back."
    )


def _told(ticket: State, result: CallResult) -> str:
    if result.tool == "payments.close_account":
        return _told_of_account(result)
    currency = ticket["charge"]["currency"]
    asked, ran = money(ticket["asks"], currency), money(result.args["amount"], currency)
    match result.status:
        case "executed" if result.args["amount"] == ticket["asks"]:
            return f"We have sent {ran} back to the way you paid. It takes up to five days to arrive."
        case "executed":
            return f"You asked for {asked}. After a second look we have sent {ran} back to the way you paid."
        case "refused":
            return f"We cannot give {asked} back. {_sentence(result.message)}".strip()
        case "expired":
            return f"Nobody has been able to look at your {asked} in time. A colleague will write to you."
        case "failed":
            return f"Sending {ran} back did not work. A colleague will write to you."
        case _:
            return (
                f"We do not know yet whether {ran} has reached you. A colleague is finding out and will write to you."
            )


def _told_of_account(result: CallResult) -> str:
    if result.status == "executed":
        return "Your account is closed."
    return f"We have not closed your account. {_sentence(result.message)}".strip()


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."
