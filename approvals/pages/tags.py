"""What templates can say beyond Django: times, marked text, titles. Built in, for the pages of both apps."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from approvals.channels import card, kinds, outcomes
from approvals.edits import marks, money
from approvals.edits.difference import Piece
from approvals.edits.table import Argument, table
from approvals.edits.texts import masked_text
from approvals.edits.view import Tool, root
from approvals.pages import amounts, cards, clock, terms

register = template.Library()


@register.filter
def moment(when: datetime | None, kind: str = "at") -> SafeString | str:
    """A time element: ``at`` the hour, ``second`` with it, ``when`` short; ``ago``, ``left``, ``brief``, ``day``."""
    if when is None:
        return ""
    now = timezone.now()
    left = (when - now).total_seconds()
    shown = {
        "at": lambda: clock.at(when, now),
        "second": lambda: clock.at(when, now, seconds=True),
        "when": lambda: clock.when(when, now),
        "ago": lambda: clock.ago(when, now),
        "left": lambda: clock.span(left),
        "brief": lambda: clock.span(left, short=True),
        "day": lambda: clock.day(when),
    }[kind]()
    return format_html(
        '<time datetime="{}" title="{}" data-as="{}">{}</time>', when.isoformat(), clock.exact(when), kind, shown
    )


@register.filter
def lasting(length: timedelta) -> str:
    """A length of time in words."""
    return clock.span(length.total_seconds())


@register.filter
def marked(text: Any) -> SafeString:
    """Text of unknown origin: its direction kept to itself, every invisible character and long gap a visible mark."""
    return signs(marks.segments(str(text)))


@register.filter
def signs(segments: Iterable[marks.Segment]) -> SafeString:
    """Text already taken apart into segments, its direction kept to itself."""
    return format_html("<bdi>{}</bdi>", _segments(segments))


@register.filter
def direction(pieces: Iterable[Piece]) -> str:
    """The way a text runs of which the pieces are told apart."""
    return marks.direction("".join(piece.text for piece in pieces if piece.kind != "del"))


@register.filter
def raw_text(text: Any) -> SafeString:
    """Indented JSON: marks as elsewhere, but the indent is only an indent."""
    lines = (line.partition(line.lstrip(" ")[:1] or "\n") for line in str(text).split("\n"))
    shown = ((indent, _segments(marks.segments(first + rest))) for indent, first, rest in lines)
    return format_html_join("\n", "{}{}", shown)


@register.filter
def sentence(made: card.Card) -> SafeString:
    """The title of a card, values out of the arguments isolated and marked."""
    return format_html_join("", "{}", ((marked(word.text) if word.given else word.text,) for word in made.words))


@register.simple_tag
def act(tool: Any, args: Any, gone: str = "") -> card.Card:
    """The card of a call that is known by its tool's facts and its arguments, or by why those are ``gone``."""
    if gone:
        return card.Card((card.Word(f"{tool.title}: {gone}"),), "", "", "", moves_money=False)
    return cards.words(
        Tool(tool.schema, money.hints(tool.summary), tool.masked), tool.summary, tool.name, tool.title, args
    )


@register.simple_tag
def arguments(value: Any, tool: Any = None) -> list[Argument]:
    """A value as rows of the argument table; a schema and a summary come from the tool's facts where they are its."""
    known = Tool(tool.schema, money.hints(tool.summary), tool.masked) if tool is not None else Tool({})
    return table(value if isinstance(value, dict) else {"answer": value}, known)


@register.simple_tag
def grant_terms(approval: Any, args: Any) -> dict[str, Any]:
    """The terms of a standing grant in words; nothing for an approval of another kind."""
    return terms.of_args(args) if approval.kind == "grant" and isinstance(args, dict) else {}


@register.simple_tag
def amount(unit: str, count: int, currency: str = "") -> str:
    """So much of a unit of a budget, as people read it."""
    return amounts.amount(unit, count, currency)


@register.filter
def kind_words(kind: str) -> kinds.Kind:
    """The words of a kind of approval; empty is a call."""
    return kinds.kind(kind or "call")


@register.filter
def option_words(choice: str) -> kinds.Option:
    """The words of an option of a choice."""
    return kinds.option(choice)


@register.filter
def outcome_words(name: str, found: bool = False) -> outcomes.Outcome:
    """The words of what became of a call; ``found``: people found that it happened."""
    return outcomes.outcome(name, found=found)


@register.filter
def code_words(code: str) -> str:
    """A code as words: ``not_allowed`` as “not allowed”."""
    return code.replace("_", " ").replace(".", " ")


@register.filter
def masked_json(value: Any) -> SafeString:
    """A value as indented JSON for reading, with dots for every secret in it."""
    return raw_text(masked_text(root(Tool({}), value)))


@register.filter
def put(change: Any) -> Any:
    """What an operation on the state puts there: a value, or items at the end of a list."""
    return change.get("items") if "items" in change else change.get("value")


@register.filter
def spaced(digest: str) -> str:
    """The ends of a digest, in groups of four."""
    return f"{digest[:4]} {digest[4:8]} … {digest[-4:]}"


@register.filter
def short_id(public_id: str) -> str:
    """A public id by its ends: ``apr_0193…c41e``."""
    return f"{public_id[: public_id.find('_') + 5]}…{public_id[-4:]}"


@register.filter
def number_word(count: int) -> str:
    """A small number as a word."""
    return card.number(count)


@register.filter
def thousands(count: int) -> str:
    """A whole number as people read it."""
    return f"{count:,}"


@register.filter
def duration(seconds: float) -> str:
    """A length of time, in seconds under five minutes."""
    return clock.span(seconds)


@register.filter
def at_most(value: int, most: int) -> int:
    """The smaller of the two."""
    return min(value, most)


@register.filter
def height(text: str) -> int:
    """How many rows a text needs in its field."""
    return min(max(text.count("\n") + 2, 6), 40)


@register.filter
def times(count: int | None) -> range:
    """So many times, for a loop."""
    return range(count or 0)


@register.simple_tag(takes_context=True)
def address(context: template.Context, **changes: Any) -> str:
    """This page's address with some parameters of its query set anew, or dropped where the value is empty."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return f"?{query.urlencode()}"


@register.simple_tag
def state_place(line: Any = None, **asked: Any) -> str:
    """The query of a place of a state on its page: where a line of the tree leads, or what is named here."""
    place = {"at": line.pointer, "was": line.was} if line else {}
    told = {name: str(value) for name, value in (place | asked).items() if value not in (None, "", 0)}
    return f"?{urlencode(told)}" if told else ""


def _segments(segments: Iterable[marks.Segment]) -> SafeString:
    return format_html_join("", "{}", ((_segment(one),) for one in segments))


def _segment(one: marks.Segment) -> SafeString | str:
    if not one.mark:
        return one.text
    return format_html('<span class="unseen" title="{}">{}</span>', one.name or "shown as a count", one.text)
