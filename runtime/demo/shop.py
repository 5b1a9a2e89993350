"""Northwind's tickets and the charges they are about: files that come with the demo, and files that a visitor adds.

Only the standard library: the payments service reads the charges here too, and it runs without Django.
"""

import json
import os
import secrets
from pathlib import Path
from typing import Any, Final

SHIPPED: Final = Path(__file__).with_name("tickets.json")


class NoSuchTicket(LookupError):
    """No ticket has this number."""


class NoSuchCharge(LookupError):
    """No ticket is about this charge."""


def tickets(home: Path) -> list[dict[str, Any]]:
    """All tickets, those that come with the demo first; `home` is the folder of the demo's own data."""
    added = [json.loads(path.read_text("utf-8")) for path in sorted((home / "tickets").glob("T-*.json"))]
    return [*shipped(), *added]


def shipped() -> list[dict[str, Any]]:
    """The tickets that come with the demo."""
    found: list[dict[str, Any]] = json.loads(SHIPPED.read_text("utf-8"))["tickets"]
    return found


def ticket(home: Path, number: str) -> dict[str, Any]:
    """The ticket of this number; raises NoSuchTicket."""
    for found in tickets(home):
        if found["number"] == number:
            return found
    raise NoSuchTicket(f"There is no ticket {number}.")


def charge(home: Path, charge_id: str) -> dict[str, Any]:
    """`{"id", "amount" in cents, "currency", "customer"}` of a charge; raises NoSuchCharge."""
    for found in tickets(home):
        if found["charge"]["id"] == charge_id:
            return {**found["charge"], "customer": found["customer"]}
    raise NoSuchCharge(f"There is no charge {charge_id}.")


def add(home: Path, like: dict[str, Any], *, amount: int | None = None) -> dict[str, Any]:
    """Write a new ticket like another one, about a charge of its own, so that it can be refunded again.

    `amount` in cents is what the customer asks for; the charge is made large enough for it.
    """
    number = secrets.token_hex(3)
    asks = like["asks"] if amount is None else amount
    paid = max(like["charge"]["amount"], asks)
    made = {
        **like,
        "number": f"T-{number}",
        "asks": asks,
        "charge": {**like["charge"], "id": f"ch_{number}", "amount": paid},
    }
    write(home / "tickets" / f"T-{number}.json", json.dumps(made, ensure_ascii=False, indent=2))
    return made


def write(path: Path, text: str | bytes, *, mode: int = 0o600) -> None:
    """Put a file in place whole: a reader or a crash sees the old text or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
