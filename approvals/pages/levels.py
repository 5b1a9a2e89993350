"""What a page says of the time in which nobody decides: who is asked next, who was reminded, who may decide by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals import due_steps, escalation, nudges, people, rows
from approvals.due_steps import DueStep
from approvals.pages.story import Item
from approvals.pages.tags import moment
from approvals.people import Person

if TYPE_CHECKING:
    from approvals.pages.ruled import Ruled
    from approvals.pages.told import Told


def next_level(asked: Told) -> SafeString | str:
    """From when more people may decide, and who they are."""
    approval, rule = asked.approval, asked.rule
    number = escalation.reached(approval, rule, rows.now()) + 1
    if not asked.pending or number > len(escalation.levels(rule)):
        return ""
    teams = _teams(asked, number)
    begins = moment(escalation.begins(approval, rule, number), "at")
    return format_html("If nobody has decided by {}, {} may decide as well.", begins, teams)


def joining(asked: Ruled) -> list[str]:
    """The teams that may decide beside those of the rule, by name: by now, or by when it was decided."""
    rule, until = asked.rule, asked.now if asked.pending else asked.approval.decided_at or asked.now
    slugs = escalation.added(rule, escalation.reached(asked.approval, rule, until))
    known = people.team_names(asked.approval.workspace_id, slugs) if slugs else {}
    return [known.get(slug, slug) for slug in slugs]


def meanwhile(asked: Told) -> list[Item]:
    """The reminders and levels of an approval, as lines of its story."""
    done = due_steps.done_of(asked.approval)
    keys = {key for due in done for told in due.told if (key := rows.parse_id(Person.PREFIX, told))}
    names = people.names(keys)
    return [item for due in done if (item := _item(asked, due, names))]


@dataclass(frozen=True)
class Nudge:
    """The button of a reader who may nudge: when it was pressed last and may be again, where that is yet to come."""

    pressed: datetime | None = None
    again: datetime | None = None


def nudge_of(asked: Told) -> Nudge | None:
    """The button for this reader; None where there is none."""
    if not asked.decidable or not nudges.may(asked.approval, asked.reader):
        return None
    again = nudges.again_at(asked.approval)
    return Nudge(again - nudges.PAUSE, again) if again and again > asked.now else Nudge()


def _item(asked: Told, due: DueStep, names: dict[UUID, str]) -> Item | None:
    if due.step == DueStep.Step.ESCALATE:
        return Item(format_html("Nobody had decided, so {} may decide as well", _teams(asked, due.number)), due.done_at)
    told = ", ".join(sorted(names[key] for each in due.told if (key := rows.parse_id(Person.PREFIX, each)) in names))
    if due.step == DueStep.Step.NUDGE:
        return _nudged(asked, due, told)
    return Item(format_html("Reminded {}", told), due.done_at) if told else None


def _nudged(asked: Told, due: DueStep, told: str) -> Item:
    who, initials = (asked.name(due.asked_by), due.asked_by.initials) if due.asked_by else ("An operator", "")
    whom = told or "whoever is asked, for when they work"
    return Item(format_html("<b>{}</b> nudged {}", who, whom), due.done_at, initials)


def _teams(asked: Told, number: int) -> str:
    level = escalation.levels(asked.rule)[number - 1 : number]
    slugs: Iterable[str] = level[0]["teams"] if level else ()
    known = people.team_names(asked.approval.workspace_id, slugs)
    return " and ".join(known.get(slug, slug) for slug in slugs) or "more people"
