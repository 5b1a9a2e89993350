"""The desk's own two tools, plain functions of this process: read a ticket, answer the customer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from django.conf import settings

from runtime.demo import shop
from runtime.tools import Refused, Use, tool

NUMBER: Final = {"type": "string", "title": "Ticket", "pattern": "^T-[0-9a-f]{1,12}$"}


def home() -> Path:
    """The folder of the demo's own data: added tickets, answers, the payments service's books."""
    return Path(settings.PLACET_HOME) / "demo"


@tool(
    "tickets.read",
    title="Read a ticket",
    description="One ticket of the shop, with what the customer wrote and the charge it is about.",
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["ticket"],
        "properties": {"ticket": NUMBER},
    },
    effect="pure",
    summary="Read ticket {/ticket}",
    risk="low",
)
def read(args: dict[str, Any], use: Use) -> dict[str, Any]:
    try:
        return shop.ticket(home(), args["ticket"])
    except shop.NoSuchTicket as missing:
        raise Refused(str(missing)) from missing


@tool(
    "tickets.reply",
    title="Answer a customer",
    description="Send the customer of a ticket an answer. The same key sends it once.",
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["ticket", "text"],
        "properties": {
            "ticket": NUMBER,
            "text": {"type": "string", "title": "Text", "minLength": 1, "maxLength": 4000},
        },
    },
    effect="keyed",
    summary="Answer ticket {/ticket}",
    risk="low",
)
def reply(args: dict[str, Any], use: Use) -> dict[str, Any]:
    """The file's name holds the key, so that sending again writes the same file and not a second answer."""
    try:
        ticket = shop.ticket(home(), args["ticket"])
    except shop.NoSuchTicket as missing:
        raise Refused(str(missing)) from missing
    name = f"{ticket['number']}.{use.key[:16]}.txt"
    text = f"To: {ticket['customer']} <{ticket['email']}>\nAbout: {ticket['subject']}\n\n{args['text']}\n"
    shop.write(home() / "replies" / name, text)
    return {"ticket": ticket["number"], "sent_to": ticket["email"], "file": name}
