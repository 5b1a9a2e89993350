"""A rule as a sentence: what it is about and what it says, and on a second line all else that it says.

Nothing of a rule is left out. Two rules that say different things are told in different words, so that a difference of
the words is a difference of the rules; a word that has no telling here is written literally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals.channels.card import number
from approvals.ledger import canonical
from approvals.pages.policy import conditions
from approvals.pages.ruled import joined

Rule = Mapping[str, Any]
Names = Mapping[str, str]
"""The names of teams by their slugs."""


@dataclass(frozen=True)
class Part:
    """A stretch of a sentence: ``strong`` for people and verdicts, ``code`` for what the machine's name is."""

    text: str
    look: str = ""


@dataclass(frozen=True)
class Told:
    """A rule in words: ``sentence``, what stands on the second line, and the reason that the rule gives."""

    sentence: tuple[Part, ...]
    more: tuple[str, ...]
    reason: str


def told(rule: Rule, teams: Names) -> Told:
    """The words for a rule with its defaults written out."""
    more = (*_remarks(rule), *_more(rule, teams))
    return Told((*_subject(rule), *_verdict(rule, teams)), more, str(rule.get("reason", "")).strip())


def name_of(team: str, teams: Names) -> str:
    """The name of a team; its slug where the workspace has none of it."""
    return teams.get(team, team)


def length(seconds: int) -> str:
    """A length of time in words, exactly: ``1 day 15 minutes``."""
    parts = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        parts += [f"{count} {unit}{'s' if count != 1 else ''}"] if count else []
    return " ".join(parts)


# The sentence


def _subject(rule: Rule) -> Iterator[Part]:
    match = rule["match"]
    if "kind" in match:
        kinds = joined([_KINDS.get(kind, kind) for kind in match["kind"]], last="or")
        tools = joined([_CHANGES.get(tool, f"({tool})") for tool in match.get("tool", ())], last="or")
        yield Part(f"{kinds[:1].upper()}{kinds[1:]}{' ' if tools else ''}{tools}")
    elif "tool" in match:
        yield from _listed(match["tool"], "or")
    else:
        yield Part("Any call")
    if "agent" in match:
        yield Part(" by ")
        yield from _listed(match["agent"], "or")
    said = conditions.words(match["when"]) if "when" in match else []
    if said:
        yield Part(f" with {joined(said)}")


def _listed(names: list[str], last: str) -> Iterator[Part]:
    for index, name in enumerate(names):
        if index:
            yield Part(f" {last} " if index == len(names) - 1 else ", ")
        yield Part(name, "code")


def _verdict(rule: Rule, teams: Names) -> Iterator[Part]:
    if rule["verdict"] != "require_approval":
        yield Part(" is ")
        yield Part("allowed" if rule["verdict"] == "allow" else "refused", "strong")
    else:
        yield Part(" needs ")
        needs = [f"{number(need['count'])} of {name_of(need['team'], teams)}" for need in rule["approvals"]]
        yield Part(joined(needs), "strong")
    yield Part(".")


_KINDS: Final = {
    "breakpoint": "a pause of a run",
    "question": "a question of an agent",
    "budget": "a spent budget",
    "outcome": "a call of unknown outcome",
    "change": "a change",
}
_CHANGES: Final = {"change.policy": "of the policy", "change.team": "of a team", "change.tool": "of a tool"}


# The second line


def _remarks(rule: Rule) -> Iterator[str]:
    match = rule["match"]
    yield from conditions.remarks(match["when"]) if "when" in match else ()
    yield from (f"{word}: {_json(match[word])}" for word in match if word not in {"kind", "tool", "agent", "when"})


def _more(rule: Rule, teams: Names) -> Iterator[str]:
    unknown = [word for word in rule if word not in _WORDS and word not in _SENTENCE]
    said = [tell(rule[word], rule, teams) for word, tell in _WORDS.items() if word in rule]
    yield from filter(None, said)
    yield from (f"{word}: {_json(rule[word])}" for word in unknown)


def _json(value: Any) -> str:
    return canonical.encode(value).decode()


def _editable(value: list[str] | None, rule: Rule, _: Names) -> str:
    if "edit" not in rule["allowed_decisions"] or "kind" in rule["match"]:
        return "" if not value else f"editable: {_json(value)}"
    if value is None:
        return "everything may be edited"
    return f"only {joined(value)} may be edited" if value else "nothing may be edited"


def _decisions(value: list[str], rule: Rule, _: Names) -> str:
    said = sorted(value, key=_VERBS.index)
    if said == ["approve", "edit", "reject"] or "kind" in rule["match"]:
        return ""
    return f"people may {joined([_DOES[verb] for verb in said], last='or')}"


def _self_review(value: bool, *_: Any) -> str:
    return "never by whoever asks" if value else "by whoever asks as well"


def _editor(value: bool, rule: Rule, _: Names) -> str:
    if "edit" not in rule["allowed_decisions"] or "kind" in rule["match"]:
        return ""
    return "whoever edits counts as one" if value else "whoever edits leaves the yes to others"


def _deadline(value: int, rule: Rule, _: Names) -> str:
    return f"{length(value)}, then {_ENDS.get(rule['on_deadline'], rule['on_deadline'])}"


def _escalate(value: list[dict[str, Any]], _: Rule, teams: Names) -> str:
    levels = [
        f"{joined([name_of(team, teams) for team in level['teams']])} for {length(level['deadline'])}"
        for level in value
    ]
    return f"then also {', then also '.join(levels)}, then returned as expired"


def _standing(value: Mapping[str, Any], *_: Any) -> str:
    calls = "one call" if value["uses"] == 1 else f"{value['uses']:,} calls"
    most = f", {value['sum']['of']} at most {value['sum']['at_most']:,} in all" if "sum" in value else ""
    return f"a yes beforehand for at most {calls} within {length(value['for'])}{most}"


def _glass(value: Mapping[str, Any], _: Rule, teams: Names) -> str:
    review = value["review"]
    who, later = name_of(value["team"], teams), name_of(review["team"], teams)
    return f"in an emergency one of {who} alone, looked at by {later} within {length(review['within'])}"


_SENTENCE: Final = {"id", "match", "verdict", "approvals", "reason", "on_deadline"}
_VERBS: Final = ("approve", "edit", "reject", "respond")
_DOES: Final = {"approve": "approve", "edit": "edit", "reject": "reject", "respond": "answer instead"}
_ENDS: Final = {
    "return_expired": "returned as expired",
    "cancel_run": "the run is cancelled",
    "escalate": "more people are asked",
}
_SURE: Final = {"click": "", "session": "on Placet's own pages", "fresh": "with a sign-in of the last five minutes"}
_WORDS: Final[dict[str, Callable[[Any, Rule, Names], str]]] = {
    "risk": lambda value, *_: f"{value} risk",
    "deadline": _deadline,
    "escalate": _escalate,
    "remind_after": lambda value, *_: f"reminder every {length(value)}",
    "editable": _editable,
    "allowed_decisions": _decisions,
    "editor_may_approve": _editor,
    "prevent_self_review": _self_review,
    "assurance": lambda value, *_: f"approved {_SURE[value]}" if value != "click" else "approved from any channel",
    "batch": lambda value, *_: "may be answered together with others" if value else "each answered by itself",
    "require_message_on": lambda value, *_: f"in words on {joined([str(verb) for verb in value])}",
    "hold_after": lambda value, *_: f"held back for {length(value)} after the yes",
    "valid_for": lambda value, *_: f"a yes is good for {length(value)}",
    "freeze": lambda value, *_: f"not sent during {joined([window['name'] for window in value], last='or')}",
    "standing": _standing,
    "break_glass": _glass,
}
