"""Two documents as one list of rules: what came, went, moved, and, word by word, what is said otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from approvals import policy_diff
from approvals.pages.policy import heads, telling, woven
from approvals.pages.policy.telling import Names, Rule
from approvals.pages.policy.woven import Run


@dataclass(frozen=True)
class Line:
    """A rule as a page shows it. ``number`` is its place, 0 where it went; ``news`` says in a word what became of it,
    empty where nothing did."""

    rule_id: str
    number: int
    sentence: tuple[Run, ...]
    more: tuple[Run, ...]
    reason: tuple[Run, ...]
    news: str = ""
    uses: str = ""


def counted(found: list[Line], uses: Mapping[str, int], words: str) -> list[Line]:
    """The same with how often each rule decided; ``words`` say of which time."""
    return [
        replace(line, uses=f"{uses.get(line.rule_id, 0):,} call{'' if uses.get(line.rule_id) == 1 else 's'} {words}")
        if line.number
        else line
        for line in found
    ]


def plain(document: Mapping[str, Any], teams: Names) -> list[Line]:
    """The rules of one document."""
    return [_alone(rule, index, teams) for index, rule in enumerate(document["rules"], 1)]


def lines(before: Mapping[str, Any], after: Mapping[str, Any], teams: Names) -> list[Line]:
    """The rules of the later document with what differs; one that went stands where it stood."""
    old = {rule["id"]: (index, rule) for index, rule in enumerate(before["rules"], 1)}
    new = [rule["id"] for rule in after["rules"]]
    found_otherwise = policy_diff.differences(before, after)
    moved = {each.where.removeprefix("rule "): each for each in found_otherwise if each.what == "moved"}
    found: list[Line] = []
    gone = [name for name in old if name not in new]
    for index, rule in enumerate(after["rules"], 1):
        found += [_gone(old[name], teams) for name in _before(gone, rule["id"], old)]
        if rule["id"] not in old:
            found.append(_whole(_alone(rule, index, teams), "ins", "new"))
            continue
        step = moved.get(rule["id"])
        found.append(_both(old[rule["id"]][1], rule, index, teams, f"was rule {step.before}" if step else ""))
    return found + [_gone(old[name], teams) for name in gone]


def _before(gone: list[str], name: str, old: Mapping[str, tuple[int, Rule]]) -> Iterator[str]:
    """Those that went and stood before this one; each is given once."""
    while gone and name in old and old[gone[0]][0] < old[name][0]:
        yield gone.pop(0)


def tops(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, tuple[Run, ...]]]:
    """What stands above the rules, compared in the same way."""
    old, new = dict(heads.told(before)), dict(heads.told(after))
    kept = [
        (about, woven.texts(old[about], said) if about in old else (Run("ins", said),)) for about, said in new.items()
    ]
    return kept + [(about, (Run("del", said),)) for about, said in old.items() if about not in new]


# One rule


def _alone(rule: Rule, index: int, teams: Names) -> Line:
    said = telling.told(rule, teams)
    sentence = tuple(Run("same", part.text, part.look) for part in said.sentence)
    return Line(rule["id"], index, sentence, _same(woven.BETWEEN.join(said.more)), _same(said.reason))


def _gone(stood: tuple[int, Rule], teams: Names) -> Line:
    return _whole(_alone(stood[1], 0, teams), "del", "removed")


def _whole(line: Line, kind: str, news: str) -> Line:
    def marked(runs: tuple[Run, ...]) -> tuple[Run, ...]:
        return tuple(Run(kind, run.text, run.look) for run in runs)

    return Line(line.rule_id, line.number, marked(line.sentence), marked(line.more), marked(line.reason), news)


def _both(before: Rule, after: Rule, index: int, teams: Names, moved: str) -> Line:
    old, new = telling.told(before, teams), telling.told(after, teams)
    sentence, more = woven.sentences(old.sentence, new.sentence), woven.lists(old.more, new.more)
    reason = woven.texts(old.reason, new.reason)
    changed = any(run.kind != "same" for run in (*sentence, *more, *reason))
    news = ", ".join(filter(None, ["changed" if changed else "", moved]))
    return Line(after["id"], index, sentence, more, reason, news)


def _same(text: str) -> tuple[Run, ...]:
    return (Run("same", text),) if text else ()
