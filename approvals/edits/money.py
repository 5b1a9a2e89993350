"""Amounts in minor units (cents) as people read and write them. The arguments always keep the minor units."""

from __future__ import annotations

import re
from typing import Any

from approvals.edits import places as pointers
from approvals.ledger import canonical

_PLACE = re.compile(r"\{((?:/[^{}|/]*)+)\|money(?::((?:/[^{}|/]*)+|[A-Z]{3}))?\}")
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩", "ILS": "₪", "UAH": "₴", "VND": "₫"}
_NO_MINOR = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW"} | {"PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"}
)
_THREE_MINOR = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})


def hints(summary: str) -> dict[str, str]:
    """The pointers that a summary calls money, each with its currency or the pointer of that (else its sibling)."""
    return {pointer: currency or _sibling(pointer) for pointer, currency in _PLACE.findall(summary)}


def code_at(args: Any, place: str) -> Any:
    """What an amount's currency is, by what `hints` says of it: a code, or what stands at its pointer."""
    return pointers.at(args, place) if place.startswith("/") else place


def currency(value: Any) -> str | None:
    """The three letters of a currency, in capitals; None for anything that has not their shape."""
    return value.upper() if isinstance(value, str) and re.fullmatch("[A-Za-z]{3}", value) else None


def places(code: str) -> int:
    """How many digits of an amount stand after the point."""
    return 0 if code in _NO_MINOR else 3 if code in _THREE_MINOR else 2


def symbol(code: str) -> str:
    """What stands before the figures: a sign where there is a well-known one, else the three letters and a space."""
    return _SYMBOLS.get(code, f"{code} ")


def figures(minor: int, code: str) -> str:
    """The figures alone, as `minor` reads them back: ``1,240.00``."""
    whole, rest = divmod(abs(minor), 10 ** places(code))
    return ("-" if minor < 0 else "") + f"{whole:,}" + (f".{rest:0{places(code)}d}" if places(code) else "")


def readable(minor: Any, code: Any) -> str | None:
    """An amount as people read it, ``€1,240.00``; None unless it is a whole number with a currency."""
    known = currency(code)
    if known is None or isinstance(minor, bool) or not isinstance(minor, int):
        return None
    return ("−" if minor < 0 else "") + symbol(known) + figures(abs(minor), known)


def minor(text: str, code: str) -> int | None:
    """The minor units that figures stand for, exactly; None for anything but ASCII digits with all places written out.

    Writing all places is what tells 1240.00 euros from 124000 cents: ``1240`` alone is refused where there are cents.
    """
    digits = places(code)
    shape = r"-?(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)" + (rf"\.[0-9]{{{digits}}}" if digits else "")
    if not re.fullmatch(shape, text, re.ASCII):
        return None
    return int(text.replace(",", "").replace(".", ""))


def example(code: str) -> str:
    """How an amount of this currency is written, for the sentence that refuses another form."""
    return figures(124000, code)


def _sibling(pointer: str) -> str:
    return canonical.join([*canonical.split(pointer)[:-1], "currency"])
