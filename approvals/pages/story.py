"""What happened to one approval, in order: people and machine in one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals import requested, turns
from approvals.channels import kinds
from approvals.comments import Comment
from approvals.decisions import Decision, decisions_of, message_of
from approvals.ledger.sealing import Erased, Tampered
from approvals.pages import known
from approvals.pages.tags import marked, sentence

if TYPE_CHECKING:
    from approvals.pages.told import Told

Text = SafeString | str


@dataclass(frozen=True)
class Item:
    """One line of a timeline: a person has initials, the machine a square; ``tone`` is good, bad, wait or void."""

    text: Text
    when: datetime | None = None
    initials: str = ""
    second: Text = ""
    tone: str = ""
    clock: str = "at"
    extra: str = ""
    link: str = ""
    state: Any = None


def story(asked: Told, meanwhile: Sequence[Item] = ()) -> list[Item]:
    """The whole story, the open question last; ``meanwhile`` is what else happened, in order."""
    opened = asked.approval.created_at
    before = [*_sent(asked), *_renewed(asked)]
    told = [
        *before,
        Item(_proposed(asked), opened),
        Item(_ruled(asked), opened),
        *_in_order([*_decided(asked)], meanwhile),
        *_ended(asked),
    ]
    for line in (*_found(asked), *_said(asked)):
        _put(told, line)
    return told


def _in_order(items: list[Item], more: Sequence[Item]) -> list[Item]:
    """The lines with others put in where they belong by their time."""
    for each in more:
        later = (place for place, item in enumerate(items) if item.when and each.when and item.when > each.when)
        items.insert(next(later, len(items)), each)
    return items


def _put(told: list[Item], line: Item) -> None:
    """Before the first line that is later; what is told without a time stays last."""
    later = (
        at
        for at, item in enumerate(told)
        if at > 1 and (item.when is None or (line.when is not None and item.when > line.when))
    )
    told.insert(next(later, len(told)), line)


def _said(asked: Told) -> Iterator[Item]:
    """What people said of it without deciding."""
    for comment in asked.comments:
        text = format_html("<b>{}</b> said", asked.name(comment.person))
        yield Item(text, comment.said_at, comment.person.initials, _words(comment))


def _found(asked: Told) -> list[Item]:
    """What those said who looked at a broken glass."""
    seen = asked.glass
    if seen is None or seen.reviewed_by is None or seen.reviewed_at is None:
        return []
    text = format_html("<b>{}</b> found that it was {} to break the glass", asked.name(seen.reviewed_by), seen.finding)
    note, tone = marked(asked.glass_found), "bad" if seen.finding == "wrong" else ""
    return [Item(text, seen.reviewed_at, seen.reviewed_by.initials, format_html("“{}”", note) if note else "", tone)]


def _words(comment: Comment) -> Text:
    try:
        return format_html("“{}”", marked(comment.clear_text()))
    except Erased:
        return "This comment was erased."
    except Tampered:
        return "The comment is not the one that was written."


def _sent(asked: Told) -> Iterator[Item]:
    """The sendings of which nobody knows what came of them."""
    for each in known.sendings(asked):
        sent = format_html(
            'Sent to <span class="literal">{}</span>, attempt {}', marked(asked.approval.tool), each.number
        )
        yield Item(sent, each.sent, second=marked(each.note) if each.note else "", clock="second")


def _renewed(asked: Told) -> Iterator[Item]:
    """The approval that no longer covered the call."""
    if first := asked.approval.asked_again:
        yield Item(
            format_html('Approved <a href="{}">before</a>, and not covered by that any more', asked.url_of(first)),
            first.decided_at,
            tone="void",
        )


def _proposed(asked: Told) -> Text:
    agent, does = marked(asked.approval.agent or asked.name(asked.approval.requester)), asked.words.proposed
    if not does:
        return sentence(asked.card_at(1))
    return format_html("{} {} “{}”", agent, does, sentence(asked.card_at(1)))


def _ruled(asked: Told) -> Text:
    rule, version = asked.first_rule, asked.revisions[1].ruling.policy_version
    if asked.unruled:
        return format_html("Asked of {}: no rule of policy version {} names others", asked.needs_of(rule), version)
    return format_html("Rule {} of policy version {} asks {}", rule["id"], version, asked.needs_of(rule))


def _decided(asked: Told) -> Iterator[Item]:
    given = decisions_of(asked.approval)
    skip: Decision | None = None
    for index, decision in enumerate(given):
        if decision is skip:
            continue
        if decision.verdict == Decision.Verdict.EDIT:
            skip = _own_yes(decision, given[index + 1 :])
            yield _edited(asked, decision, approved=skip is not None)
            yield from _voided(decision, given[:index])
        else:
            yield _voted(asked, decision)


def _own_yes(edit: Decision, later: Sequence[Decision]) -> Decision | None:
    """The yes that an edit counts as, if it does."""
    return next(
        (one for one in later[:1] if one.person_id == edit.person_id and one.revision == edit.revision + 1), None
    )


def _edited(asked: Told, decision: Decision, *, approved: bool) -> Item:
    changed = asked.changed_fields(decision.revision + 1)
    text = format_html("<b>{}</b> changed {}{}", asked.giver(decision), changed, " and approved" if approved else "")
    return _item(decision, text)


def _voided(edit: Decision, earlier: Sequence[Decision]) -> Iterator[Item]:
    for one in turns.counting(each for each in earlier if each.revision == edit.revision):
        if one.verdict == Decision.Verdict.APPROVE:
            told = f"{one.person.first_name}’s vote no longer counts: it was for revision {one.revision}"
            yield Item(told, edit.decided_at, tone="void")


def _voted(asked: Told, decision: Decision) -> Item:
    if decision.verdict == Decision.Verdict.REJECT:
        told = format_html("<b>{}</b> {}", asked.giver(decision), asked.words.rejected)
        return _item(decision, told, tone="bad")
    if decision.verdict == Decision.Verdict.RESPOND and requested.is_request(decision):
        return _item(decision, format_html("<b>{}</b> requested changes", asked.name(decision.person)))
    if decision.verdict == Decision.Verdict.RESPOND:
        return _item(decision, format_html("<b>{}</b> answered", asked.giver(decision)))
    if decision.verdict == Decision.Verdict.CHOOSE:
        chose = kinds.option(decision.choice).told
        return _item(decision, format_html("<b>{}</b> {}", asked.giver(decision), chose))
    if decision.verdict == Decision.Verdict.STOP:
        told = format_html("<b>{}</b> stopped it before it was sent", asked.giver(decision))
        return _item(decision, told, tone="bad")
    if decision.verdict == Decision.Verdict.RETRACT:
        told = format_html("<b>{}</b> took the vote back", asked.name(decision.person))
        return _item(decision, told, tone="void")
    if decision.verdict == Decision.Verdict.OVERRIDE:
        told = format_html("<b>{}</b> broke the glass and let it go", asked.name(decision.person))
        return _item(decision, told, tone="wait")
    if not asked.is_call:
        return _item(decision, format_html("<b>{}</b> {}", asked.giver(decision), asked.words.approved))
    what = asked.card_at(decision.revision).measure or f"revision {decision.revision}"
    return _item(decision, format_html("<b>{}</b> approved {}", asked.giver(decision), what))


def _item(decision: Decision, text: Text, *, tone: str = "") -> Item:
    return Item(text, decision.decided_at, decision.person.initials, _quoted(decision), tone)


def _quoted(decision: Decision) -> Text:
    try:
        message = message_of(decision)
    except Tampered:
        return "The comment is not the one that was written."
    return format_html("“{}”", marked(message)) if message else ""


def _ended(asked: Told) -> Iterator[Item]:
    approval = asked.approval
    if asked.state == "pending":
        yield Item(asked.waiting_words, tone="wait")
        return
    unvoted = {
        "expired": f"Expired. {asked.words.unanswered}",
        "cancelled": "Withdrawn, together with its run",
        "superseded": "Replaced by a newer approval",
    }.get(asked.state)
    if unvoted:
        yield Item(unvoted, approval.decided_at or approval.ends_at)
    if asked.state == "running":
        yield Item("Approved, not sent yet" if asked.waits else "Approved, about to run", tone="wait")
    if asked.newer and asked.state == "renewed":
        again = format_html('Not sent. <a href="{}">Asked again</a>', asked.url_of(asked.newer))
        yield Item(again, asked.newer.created_at, tone="wait")
    yield from _doubted(asked)
    if asked.state == "rehearsed":
        yield Item("Not sent: it was a rehearsal", approval.outcome_at, clock="second")
    elif asked.outcome.told:
        note = marked(approval.outcome_note) if approval.outcome_note else ""
        yield Item(asked.outcome.told, approval.outcome_at, second=note, tone=asked.outcome.tone, clock="second")


def _doubted(asked: Told) -> Iterator[Item]:
    """That nobody knew what came of it, and who was asked; what they said where it is settled."""
    for each in asked.doubts:
        question = format_html('Nobody knew what came of it. <a href="{}">People were asked</a>', asked.url_of(each))
        yield Item(question, each.created_at)
        if each.choice:
            who, told = asked.name(each.decided_by), kinds.option(each.choice).told
            initials = each.decided_by.initials if each.decided_by else ""
            yield Item(format_html("<b>{}</b> {}", who, told), each.decided_at, initials)
