"""What a document says above its rules, in sentences: floors, freezes, limits, masks and the shadow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from approvals import policy_freezes
from approvals.channels.card import number
from approvals.ledger import canonical
from approvals.pages.ruled import joined

Sentence = tuple[str, str]
"""What it is about, which nothing else in the document is, and what is said of it."""


def told(document: Mapping[str, Any]) -> list[Sentence]:
    """Everything at the top of a document but its rules, in the order of the page."""
    found: list[Sentence] = []
    for word in [*_TOLD, *(word for word in document if word not in _TOLD)]:
        if word in document and word not in {"policy", "rules"}:
            tell = _TOLD.get(word, _literally)
            found += [(about or word, said) for about, said in tell(document[word])]
    return found


def _literally(value: Any) -> Iterator[Sentence]:
    yield "", canonical.encode(value).decode()


def _floors(value: Mapping[str, Mapping[str, Any]]) -> Iterator[Sentence]:
    for risk, floor in value.items():
        people = floor["people"]
        said = [f"{number(people)} {'person' if people == 1 else 'people'}"]
        said += [f"assurance {floor['assurance']}"] if "assurance" in floor else []
        said += [f"words on {joined(floor['require_message_on'])}"] if "require_message_on" in floor else []
        yield f"{risk.capitalize()} risk", f"No rule asks less than {joined(said)}."


def _freezes(value: Mapping[str, Mapping[str, Any]]) -> Iterator[Sentence]:
    for name, window in value.items():
        if "days" in window:
            days = "every day" if len(window["days"]) == 7 else joined([_DAYS[day] for day in window["days"]])
            told = f"{window['from']} to {window['to']}, {days}, by the clock of {window['zone']}"
        else:
            told = f"from {_moment(window['from'])} until {_moment(window['until'])}"
        yield f"Freeze {name}", f"Nothing that a rule names it for is sent {told}."


def _moment(text: str) -> str:
    return f"{policy_freezes.instant(text):%Y-%m-%d %H:%M} UTC"


def _limits(value: Mapping[str, int]) -> Iterator[Sentence]:
    words = {
        "open_per_agent": ("Open at once", "An agent has at most {:,} calls and questions open."),
        "yeses_per_minute": ("Yeses a minute", "Nobody says yes more than {:,} times a minute."),
    }
    for word, most in value.items():
        about, told = words.get(word, (word, "{:,}"))
        yield about, told.format(most)


def _masks(value: Mapping[str, list[str]]) -> Iterator[Sentence]:
    for tool, pointers in value.items():
        yield f"Masked in {tool}", f"{joined(pointers)} {'is' if len(pointers) == 1 else 'are'} shown to nobody."


def _shadow(value: Mapping[str, str]) -> Iterator[Sentence]:
    yield "Shadow", f"Until {_moment(value['until'])} nobody is asked; what people would have been asked about goes."


_DAYS: Final = {
    "mon": "Mondays",
    "tue": "Tuesdays",
    "wed": "Wednesdays",
    "thu": "Thursdays",
    "fri": "Fridays",
    "sat": "Saturdays",
    "sun": "Sundays",
}
_TOLD: Final[dict[str, Callable[[Any], Iterator[Sentence]]]] = {
    "shadow": _shadow,
    "at_least": _floors,
    "limits": _limits,
    "freezes": _freezes,
    "masks": _masks,
}
