"""JSON in exactly one form: what is read, shown, hashed and sent are the same bytes (RFC 8785)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

import rfc8785

from approvals.ledger.json_values import FLAWS, SAFE_INTEGER, Refused, Unrepresentable, flaw, join, plain, split
from approvals.ledger.reading import MAX_BYTES, MAX_DEPTH, MAX_NODES, parse, reread

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "SAFE_INTEGER",
    "Unrepresentable",
    "action_digest",
    "assemble",
    "encode",
    "join",
    "parse",
    "plain",
    "reread",
    "sha256_hex",
    "split",
]


def sha256_hex(data: bytes) -> str:
    """SHA-256 in 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def action_digest(header: Mapping[str, Any], args: bytes) -> str:
    """SHA-256 over the RFC 8785 bytes of the header and one more member, ``args``, whose canonical bytes go in unread.

    Raises ValueError for a header that holds ``args`` itself, and for missing arguments: no arguments are ``{}``.
    """
    if "args" in header or not args:
        raise ValueError("The digest needs a header without args, and the arguments' bytes.")
    return sha256_hex(assemble({key: encode(value) for key, value in header.items()} | {"args": bytes(args)}))


def assemble(members: Mapping[str, bytes]) -> bytes:
    """The canonical bytes of an object whose members are canonical bytes already."""
    return b"{" + b",".join(encode(key) + b":" + members[key] for key in _sorted(members)) + b"}"


# Writing


def encode(value: Any, *, max_depth: int = MAX_DEPTH) -> bytes:
    """The RFC 8785 bytes of a value made of None, bool, int, float, str, list and dict, and of nothing else.

    Raises Unrepresentable for anything else, subclasses included, and for NaN, infinities, integers beyond 2**53 - 1,
    lone surrogates, U+0000, keys that are no text, and more than ``max_depth`` levels (so for a value inside itself).
    """
    parts: list[str] = []
    try:
        _write(value, parts, max_depth)
    except Refused as refused:
        raise Unrepresentable(join(refused.path[::-1]), refused.rule, refused.message) from None
    return "".join(parts).encode()


def _write(value: Any, parts: list[str], depth: int) -> None:
    kind = type(value)
    if kind is str:
        parts.append(_text(value))
    elif kind is bool or value is None:
        parts.append("null" if value is None else "true" if value else "false")
    elif kind is int or kind is float:
        parts.append(_number(value))
    elif kind is dict or kind is list:
        if depth < 1:
            raise Refused("depth", "This is nested too deeply.")
        (_write_object if kind is dict else _write_list)(value, parts, depth - 1)
    else:
        raise Refused("type", f"A {kind.__name__} is no JSON value.")


def _write_object(value: dict[str, Any], parts: list[str], depth: int) -> None:
    opening = "{"
    for key in _sorted(value):
        parts += (opening, _text(key), ":")
        opening = ","
        try:
            _write(value[key], parts, depth)
        except Refused as refused:
            refused.path.append(key)
            raise
    parts.append("}" if value else "{}")


def _write_list(value: list[Any], parts: list[str], depth: int) -> None:
    opening = "["
    for index, item in enumerate(value):
        parts.append(opening)
        opening = ","
        try:
            _write(item, parts, depth)
        except Refused as refused:
            refused.path.append(index)
            raise
    parts.append("]" if value else "[]")


def _sorted(value: Mapping[str, Any]) -> list[str]:
    """The keys in the order of their UTF-16 code units, which beyond ASCII is not the order of code points."""
    for key in value:
        if type(key) is not str:
            raise Refused("type", f"A key must be text, not {type(key).__name__}.")
        _text(key)
    if all(map(str.isascii, value)):
        return sorted(value)
    return sorted(value, key=lambda key: key.encode("utf-16-be"))


def _text(value: str) -> str:
    rule = flaw(value)
    if rule:
        raise Refused(rule, FLAWS[rule])
    return encode_basestring(value)


def _number(value: int | float) -> str:
    if type(value) is int:
        if abs(value) > SAFE_INTEGER:
            raise Refused("number", "A whole number this large is not carried exactly: send it as text.")
        return str(value)
    try:
        return rfc8785.dumps(value).decode()
    except rfc8785.FloatDomainError:
        raise Refused("number", "NaN and infinities are no JSON numbers.") from None
