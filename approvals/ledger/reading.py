"""JSON text read strictly (RFC 8259): one text, one value, or a refusal that names the place."""

from __future__ import annotations

import json
import re
from typing import Any

from approvals.ledger.json_values import FLAWS, SURROGATE, Refused, Unrepresentable, exact, flaw, join

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 100_000

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SPACE = re.compile(r"[ \t\n\r]*")
_WORDS = {"true": True, "false": False, "null": None}
_WORDLIKE = re.compile(r"[A-Za-z0-9.+-]")
_WORD = re.compile(r"-?[A-Za-z]+")
_STRINGS = json.JSONDecoder()
_STRING_ERRORS = {
    "Unterminated string": "This text has no closing quote.",
    "Invalid control character": "A control character must be written as an escape.",
    "Invalid \\escape": "This escape is unknown.",
    "Invalid \\uXXXX escape": "This escape needs four hex digits.",
}


def parse(
    data: bytes | str,
    *,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
    whole: bool = True,
) -> Any:
    """The one value that a JSON text stands for, made of dict, list, str, int, float, bool and None.

    A whole number comes back as int up to 2**53 - 1, so 42.0, 42 and 4.2e1 are one value, and `encode` and `parse` undo
    each other; without ``whole``, one that is written with a point or an exponent stays a float, for whoever wants to
    tell the two apart, and `encode` makes them one. Raises Unrepresentable for duplicate keys (also by escape), NaN,
    numbers that RFC 8785 would write with another value, lone surrogates, U+0000, bytes that are no UTF-8, a byte order
    mark, text after the value, and what exceeds a limit (bytes of UTF-8, levels, values).
    """
    size = len(data.encode("utf-8", "surrogatepass")) if isinstance(data, str) and len(data) <= max_bytes else len(data)
    if size > max_bytes:
        raise Unrepresentable("", "bytes", f"This is larger than {max_bytes:,} bytes.")
    # Bytes that are no UTF-8 become lone surrogates, so that the reader can say in which field they stand.
    text = data if isinstance(data, str) else bytes(data).decode("utf-8", "surrogateescape")
    try:
        return _plain(text, max_depth, max_nodes, whole)
    except (_Unusual, Refused, ValueError, RecursionError):
        return _Reader(text, max_depth, max_nodes, isinstance(data, str), whole).read()


_REREAD = json.JSONDecoder(parse_int=exact, parse_float=exact)


def reread(data: bytes | memoryview) -> Any:
    """The value of bytes that `encode` wrote, as a code of ours proves: no text of that kind can be refused."""
    return _REREAD.decode(bytes(data).decode())


class _Unusual(Exception):
    """A text that the quick reading leaves to the careful one."""


def _plain(text: str, max_depth: int, max_nodes: int, whole: bool) -> Any:
    """The value, read at the library's speed, of a text in which nothing can be wrong that the library would let pass.

    Without escapes by number and without surrogates no string can hold either; a value needs a comma or a bracket.
    """
    brackets = text.count("[") + text.count("{")
    if "\\u" in text or SURROGATE.search(text) or brackets + text.count(",") >= max_nodes:
        raise _Unusual
    how: dict[str, Any] = {"parse_int": exact, "parse_float": exact if whole else _as_written}
    value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, **how)
    if brackets > max_depth and _deeper(value, max_depth):
        raise _Unusual
    return value


def _as_written(token: str) -> int | float:
    return exact(token) if token.lstrip("-").isdigit() else float(exact(token))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Unusual
    return value


def _constant(word: str) -> Any:
    raise _Unusual(word)


def _deeper(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        return levels < 1 or any(_deeper(item, levels - 1) for item in value.values() if isinstance(item, dict | list))
    return levels < 1 or any(_deeper(item, levels - 1) for item in value if isinstance(item, dict | list))


class _Reader:
    """Reads one text without recursion: depth is a list of open containers, so no nesting can exhaust the stack."""

    def __init__(self, text: str, max_depth: int, max_nodes: int, typed: bool, whole: bool) -> None:
        self.text, self.at, self.typed, self.whole = text, 0, typed, whole
        self.max_depth, self.max_nodes, self.nodes = max_depth, max_nodes, 0
        self.open: list[dict[str, Any] | list[Any]] = []
        self.path: list[str | int] = []

    def read(self) -> Any:
        if self.text.startswith("\ufeff"):
            raise self.refusal("bom", "The text starts with a byte order mark.")
        value = self.value()
        while self.open:
            container = self.open[-1]
            if isinstance(container, dict):
                self.member(container)
            else:
                self.item(container)
        if self.peek():
            raise self.refusal("trailing", "There is more text after the value.")
        return value

    def member(self, container: dict[str, Any]) -> None:
        if self.closed("}", bool(container)):
            return
        if self.peek() != '"':
            raise self.refusal("syntax", "A field's name in double quotes is missing here.")
        start = self.at
        key = self.string()
        self.path.append(key)
        if key in container:
            raise self.refusal("duplicate", "This field is given twice.", start)
        if self.peek() != ":":
            raise self.refusal("syntax", "A colon is missing here.")
        self.at += 1
        container[key] = self.child()

    def item(self, container: list[Any]) -> None:
        if self.closed("]", bool(container)):
            return
        self.path.append(len(container))
        container.append(self.child())

    def closed(self, end: str, begun: bool) -> bool:
        """Whether the innermost container ends here; if not, steps over the comma before its next member."""
        char = self.peek()
        if char == end:
            self.at += 1
            self.open.pop()
            if self.open:
                self.path.pop()
            return True
        if begun:
            if char != ",":
                raise self.refusal("syntax", f"A comma or {end} is missing here.")
            self.at += 1
        return False

    def child(self) -> Any:
        depth = len(self.open)
        value = self.value()
        if len(self.open) == depth:
            self.path.pop()
        return value

    def value(self) -> Any:
        """The scalar that stands here, or the empty container that begins here."""
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise self.refusal("nodes", f"There are more than {self.max_nodes:,} values.")
        char = self.peek()
        if char == '"':
            return self.string()
        if char in ("{", "["):
            return self.container(char)
        if "0" <= char <= "9" or (char == "-" and not self.text.startswith("-I", self.at)):
            return self.number()
        return self.word()

    def container(self, char: str) -> dict[str, Any] | list[Any]:
        if len(self.open) == self.max_depth:
            raise self.refusal("depth", f"This is nested deeper than {self.max_depth} levels.")
        self.at += 1
        self.open.append({} if char == "{" else [])
        return self.open[-1]

    def string(self) -> str:
        start = self.at
        try:
            value, self.at = _STRINGS.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            message = next((ours for theirs, ours in _STRING_ERRORS.items() if error.msg.startswith(theirs)), error.msg)
            raise self.refusal("syntax", message, error.pos) from None
        rule = flaw(value)
        if rule:
            raise self.refusal(rule, FLAWS[rule], start)
        return str(value)

    def number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise self.refusal("syntax", "This is no JSON number.")
        try:
            value = exact(found[0]) if self.whole else _as_written(found[0])
        except Refused as refused:
            raise self.refusal(refused.rule, refused.message) from None
        if _WORDLIKE.match(self.text, found.end()):
            raise self.refusal("syntax", "This is no JSON number.")
        self.at = found.end()
        return value

    def word(self) -> bool | None:
        found = _WORD.match(self.text, self.at)
        if found and found[0] in _WORDS:
            self.at = found.end()
            return _WORDS[found[0]]
        if found and found[0].lstrip("-") in ("NaN", "Infinity"):
            raise self.refusal("number", "NaN and infinities are no JSON numbers.")
        ended = self.at >= len(self.text)
        raise self.refusal("syntax", "The text ends too early." if ended else "A value is missing here.")

    def peek(self) -> str:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def refusal(self, rule: str, message: str, at: int | None = None) -> Unrepresentable:
        at = self.at if at is None else at
        line, column = self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)
        if not self.typed and SURROGATE.search(self.text, at, max(self.at, at + 1)):
            rule, message = "utf8", "These bytes are no UTF-8."
        return Unrepresentable(join(self.path), rule, message, line, column)
