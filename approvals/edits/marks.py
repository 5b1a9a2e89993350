"""Text from agents, with what the eye would miss made visible: invisible characters, long gaps, look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

GAP_OF_SPACES = 16
"""From so many spaces in a row on, the run is shown as its length."""
SAME_IN_A_ROW = 4
"""From so many equal invisible characters in a row on, they are shown once, with their number."""

_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that draw nothing: the joiner, Hangul and Khmer fillers, the blank braille cell."""
_UNSEEN_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"))
_BLANK_LINES = re.compile(r"(?<=\n)(?:[ \t]*\n){3,}")
_SPACES = re.compile(rf" {{{GAP_OF_SPACES},}}")

_CONFUSED = frozenset(("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL"))
"""Scripts whose letters pass for one another's; words of others may be mixed as languages do."""
# Repetitions are bounded: texts come from agents, and time must not grow with the square of their length.
_WORD = re.compile(r"[^\W\d_]{2,}")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://([^/\s?#]{1,300})")
_MAIL_HOST = re.compile(r"(?<=[^\s@<>\"'(),;])@([^\s@<>\"'(),;/?#]{1,300})")
_DOTTED = re.compile(r"\b\w[\w-]{0,62}(?:\.[\w-]{1,63}){1,10}")
_TEMPLATE = re.compile(r"\$\{[^}]{0,200}\}|\{\{.{0,80}?\}\}|\$\([^)]{0,200}\)", re.DOTALL)


class Segment(NamedTuple):
    """A piece of shown text; ``mark`` is "sign" for an invisible character, "gap" for a counted run, else empty."""

    text: str
    mark: str = ""
    name: str = ""


def unseen(char: str) -> bool:
    """Whether a character would not be seen for what it is. A line feed and an ordinary space are text."""
    if " " <= char <= "~" or char == "\n":
        return False
    return char in _FILLERS or unicodedata.category(char) in _UNSEEN_CATEGORIES or _is_selector(char)


def count(text: str) -> int:
    """How many characters of the text cannot be seen."""
    return 0 if _is_plain(text) else sum(map(unseen, _plain_line_ends(text)))


def segments(text: str) -> tuple[Segment, ...]:
    """The text in pieces, complete: what cannot be seen and what would push the rest out of sight is marked."""
    if _is_plain(text):
        return (Segment(text),) if text else ()
    found: list[Segment] = []
    text = _plain_line_ends(text)
    position = 0
    for start, end, gap in _gaps(text):
        found.extend(_signs(text[position:start]))
        found.append(gap)
        position = end
    found.extend(_signs(text[position:]))
    return tuple(found)


def escaped(text: str) -> str:
    """The same in one plain text, for places that know no marks: a title, a message, a log line."""
    return "".join(map(_escape, segments(text)))


def take_out(text: str) -> str:
    """The text without its invisible characters."""
    return "".join(char for char in text if not unseen(char))


def first_unseen(text: str) -> str:
    """The first invisible character and where it stands: "U+200B, after “pallets”"; empty if there is none."""
    position = next((index for index, char in enumerate(text) if unseen(char)), None)
    if position is None:
        return ""
    before = text[:position].split()
    where = f"after “{before[-1][-24:]}”" if before else "at the start"
    return f"U+{ord(text[position]):04X}, {where}"


def direction(text: str) -> str:
    """The way the text runs by its first letter that has one, as `dir="auto"` finds it: "rtl" or "ltr"."""
    ways = (unicodedata.bidirectional(char) for char in text)
    return "rtl" if next((way for way in ways if way in ("L", "R", "AL")), "L") != "L" else "ltr"


def mixed_line_ends(text: str) -> bool:
    """Whether the text has carriage returns that are not all part of one consistent kind of line end."""
    pairs = text.count("\r\n")
    return "\r" in text and not pairs == text.count("\r") == text.count("\n")


def warnings(text: str) -> tuple[str, ...]:
    """Sentences about look-alike letters, hosts that are not what they seem, and texts that look like templates."""
    found = [*_host_warnings(text), *_mixed_words(text)]
    if template := _TEMPLATE.search(text):
        found.append(f"{escaped(template.group()[:60])} is passed on as it stands; Placet fills in no templates.")
    return tuple(dict.fromkeys(found))


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\u180b" <= char <= "\u180f" or "\U000e0100" <= char <= "\U000e01ef"


def _is_plain(text: str) -> bool:
    """Whether a glance is enough: most texts have nothing to mark."""
    return text.isascii() and text.isprintable() and " " * GAP_OF_SPACES not in text


def _plain_line_ends(text: str) -> str:
    return text if mixed_line_ends(text) else text.replace("\r\n", "\n")


def _gaps(text: str) -> Iterator[tuple[int, int, Segment]]:
    gaps = [(m.start(), m.end(), Segment(f"{len(m.group()):,} spaces", "gap")) for m in _SPACES.finditer(text)]
    gaps += [(m.start(), m.end(), _blank_lines(m.group())) for m in _BLANK_LINES.finditer(text)]
    last = 0
    for start, end, gap in sorted(gaps):
        if start >= last:
            yield start, end, gap
            last = end


def _blank_lines(run: str) -> Segment:
    return Segment(f"{run.count(chr(10)):,} blank lines", "gap")


def _signs(text: str) -> Iterator[Segment]:
    start = position = 0
    while position < len(text):
        char = text[position]
        if not unseen(char):
            position += 1
            continue
        if position > start:
            yield Segment(text[start:position])
        length = _run(text, position)
        yield from _sign(char, length)
        start = position = position + length
    if start < len(text):
        yield Segment(text[start:])


def _run(text: str, position: int) -> int:
    end = position
    while end < len(text) and text[end] == text[position]:
        end += 1
    return end - position


def _sign(char: str, length: int) -> Iterator[Segment]:
    point, name = f"U+{ord(char):04X}", _name(char)
    if length >= SAME_IN_A_ROW:
        yield Segment(f"{point} × {length:,}", "sign", name)
    else:
        yield from [Segment(point, "sign", name)] * length


@lru_cache(maxsize=4096)
def _name(char: str) -> str:
    return unicodedata.name(char, "a character without a name").lower()


def _escape(piece: Segment) -> str:
    if piece.mark != "sign":
        return f"[{piece.text}]" if piece.mark else piece.text
    point, _, times = piece.text.partition(" × ")
    return f"\\u{{{point[2:].lower()}}}" + (f"[× {times}]" if times else "")


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _scripts(text: str) -> list[str]:
    found = dict.fromkeys(_script(char) for char in text if char.isalpha())
    return [script for script in found if script in _CONFUSED]


def _host_warnings(text: str) -> Iterator[str]:
    for authority in _AUTHORITY.findall(text):
        _user, at, host = authority.rpartition("@")
        if at:
            yield f"What stands before the @ is a user name; the host is {escaped(host)}."
        yield from _host_warning(host)
    for host in _MAIL_HOST.findall(text):
        yield from _host_warning(host)
    if not text.isascii():
        for dotted in _DOTTED.findall(text):
            if len(_scripts(dotted)) > 1:
                yield from _host_warning(dotted)


def _host_warning(host: str) -> Iterator[str]:
    if not host.isascii():
        yield f"{escaped(host)} is not written in plain letters; its address is {_ascii_host(host)}."
    elif any(label.lower().startswith("xn--") for label in host.split(".")):
        yield f"{host} is the plain form of {escaped(_decoded_host(host))}."


def _ascii_host(host: str) -> str:
    return ".".join(
        label if label.isascii() else "xn--" + label.lower().encode("punycode").decode() for label in host.split(".")
    )


def _decoded_host(host: str) -> str:
    return ".".join(_decoded_label(label) for label in host.split("."))


def _decoded_label(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


def _mixed_words(text: str) -> Iterator[str]:
    if text.isascii():
        return
    for word in dict.fromkeys(_WORD.findall(text)):
        if len(scripts := _scripts(word)) > 1:
            kinds = " and ".join(script.capitalize() for script in scripts)
            yield f"“{word}” mixes {kinds} letters ({_odd_points(word, scripts)})."


def _odd_points(word: str, scripts: list[str]) -> str:
    """The code points of the letters in the script that the word uses least."""
    rare = min(scripts, key=lambda script: sum(_script(char) == script for char in word))
    return ", ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in word if _script(char) == rare))


def folded(text: str) -> str:
    """What a reader would take the text for: without what cannot be seen, in one case, composed."""
    return unicodedata.normalize("NFKC", take_out(text)).casefold()
