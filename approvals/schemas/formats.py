"""The formats that are checked, strictly and each by its own standard; any other format is passed over with a note."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(\.[0-9]+)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DURATION = re.compile(
    r"P(?=.)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)"
)
_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_URI = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_RUNS_CODE = frozenset({"javascript", "vbscript"})


def _date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def _time(text: str) -> bool:
    """RFC 3339; a leap second only where one can be, at the end of a UTC day."""
    found = _TIME.fullmatch(text)
    if not found or found[3] != "60":
        return bool(found)
    away = (int(found[6] or 0) * 60 + int(found[7] or 0)) * (-1 if found[5] == "-" else 1)
    return (int(found[1]) * 60 + int(found[2]) - away) % 1440 == 1439


def _date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _date(text[:10]) and _time(text[11:])


def _hostname(text: str) -> bool:
    return len(text) <= 253 and bool(_HOSTNAME.fullmatch(text))


def _email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    return len(local) <= 64 and bool(_LOCAL.fullmatch(local)) and _hostname(domain)


def _uri(text: str) -> bool:
    """An address with a scheme. Schemes that run code are none: no tool needs one, and a link to one is a trap."""
    scheme = _SCHEME.match(text)
    return scheme is not None and _uri_reference(text)


def _uri_reference(text: str) -> bool:
    scheme = _SCHEME.match(text)
    return text.count("#") <= 1 and bool(_URI.fullmatch(text)) and not (scheme and scheme[1].lower() in _RUNS_CODE)


def _iri(text: str) -> bool:
    return text.isprintable() and _uri(_ascii(text))


def _iri_reference(text: str) -> bool:
    return text.isprintable() and _uri_reference(_ascii(text))


def _ascii(text: str) -> str:
    return "".join(char if char.isascii() else "x" for char in text)


def _read_by(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return text.isascii() and "%" not in text

    return check


_address4, _address6 = _read_by(ipaddress.IPv4Address), _read_by(ipaddress.IPv6Address)
_network4, _network6 = _read_by(ipaddress.IPv4Interface), _read_by(ipaddress.IPv6Interface)

CHECKS: dict[str, tuple[Callable[[str], bool], str]] = {
    "date": (_date, "a date such as 2026-11-30"),
    "time": (_time, "a time with its zone such as 09:30:00Z"),
    "date-time": (_date_time, "a date and time with its zone such as 2026-11-30T09:30:00Z"),
    "duration": (lambda text: bool(_DURATION.fullmatch(text)), "a duration such as P3D or PT30M"),
    "email": (_email, "one e-mail address such as name@example.com"),
    "hostname": (_hostname, "a host name such as mail.example.com"),
    "ipv4": (_address4, "an IPv4 address such as 192.0.2.10"),
    "ipv6": (_address6, "an IPv6 address such as 2001:db8::10"),
    "cidrv4": (lambda text: "/" in text and _network4(text), "an IPv4 network such as 192.0.2.0/24"),
    "cidrv6": (lambda text: "/" in text and _network6(text), "an IPv6 network such as 2001:db8::/32"),
    "uri": (_uri, "an address such as https://example.com/a"),
    "uri-reference": (_uri_reference, "an address or the end of one, such as /a/b"),
    "iri": (_iri, "an address such as https://example.com/a"),
    "iri-reference": (_iri_reference, "an address or the end of one, such as /a/b"),
    "uuid": (lambda text: bool(_UUID.fullmatch(text)), "a UUID such as 123e4567-e89b-12d3-a456-426614174000"),
    "json-pointer": (lambda text: bool(_POINTER.fullmatch(text)), "a JSON pointer such as /items/0"),
}
"""The checks by format, and what would be right, for messages."""

NO_CHECK_NEEDED = frozenset({"password"})
"""Formats that say how to show a value and nothing about which values are right."""


def is_base64(text: str) -> bool:
    """Whether the text is base64 (RFC 4648 section 4) with its padding."""
    try:
        return text.isascii() and base64.b64decode(text, validate=True) is not None
    except (binascii.Error, ValueError):
        return False
