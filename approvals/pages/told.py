"""The same approval in words, as the review page says them: the state, the rule, the people, what a click does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals import changes, explaining, glass, people, requested, turns, votes
from approvals.channels import card as words
from approvals.channels import kinds, outcomes
from approvals.decisions import Decision, message_of
from approvals.edits import marks
from approvals.ledger.sealing import Tampered
from approvals.pages import clock, known, levels, story
from approvals.pages.entries import AGREEING
from approvals.pages.policy import compared, seating
from approvals.pages.ruled import Ruled, joined
from approvals.pages.tags import moment


@dataclass(frozen=True)
class Chip:
    """The state of the page in one word or two."""

    text: str
    tone: str = ""
    icon: str = ""


_ANSWERED = {"": "Answered by", requested.REQUESTED: "By"}
_RESPONDED = {requested.REQUESTED: "requested changes"}
ICONS = {"executed": "check", "failed": "cross", "unknown": "unknown"}
CHIPS = {
    "running": Chip("Approved, about to run", "wait"),
    "approved": Chip("Approved", "good", "check"),
    "answered": Chip("Answered", "good", "check"),
    "renewed": Chip("Asked again", "wait"),
    "stopped": Chip("Stopped", "bad", "cross"),
    "rehearsed": Chip("Approved in rehearsal", "good", "check"),
    "rejected": Chip("Rejected", "bad", "cross"),
    "expired": Chip("Expired"),
    "cancelled": Chip("Withdrawn"),
    "superseded": Chip("Replaced"),
}


class Told(Ruled):
    """An approval in words. Templates know it as ``review``."""

    @property
    def last_changed(self) -> str:
        """What the last edit changed."""
        return self.changed_fields(self.approval.revision)

    @property
    def editor(self) -> str:
        return self.name(self.current.editor) if self.current.editor else ""

    def changed_fields(self, number: int) -> str:
        """What an edit changed, by name: ``amount and note``, or how many fields where they are many."""
        names = [marks.escaped(change.name) for change in self.changes(number - 1, number)]
        return joined(names) if len(names) <= 3 else f"{len(names)} fields"

    @property
    def why_not(self) -> str:
        """Why this reader may not approve."""
        if self.halt:
            return f"{self.halt.told} Nothing is decided until it goes on, and the deadline stands still."
        if self.standing.code == "not_allowed":
            return f"This is for {joined(list(self.team_names.values()))} to decide. You are not one of them."
        if self.standing.code == "already_voted" and self.open:
            return f"You approved this. It waits for {words.number(self.open)} more."
        return self.standing.reason

    @property
    def chip(self) -> Chip:
        if self.pending:
            return Chip("Frozen" if self.halt else self.waiting_words, "wait")
        if self.waits:
            return Chip("Approved, not sent yet", "wait")
        if self.state in ICONS:
            return Chip(self.outcome.state, self.outcome.tone, ICONS[self.state])
        if self.state == "answered" and self.approval.choice:
            return Chip(kinds.option(self.approval.choice).state, icon="check")
        return CHIPS[self.state]

    @property
    def outcome(self) -> outcomes.Outcome:
        """The words of what became of the call."""
        return outcomes.outcome(self.state, found=self.found)

    @property
    def waiting_words(self) -> str:
        needs = [(self.who_of(need["team"], self.joining), need["count"]) for need in self.rule["approvals"]]
        return words.waiting_for(needs, self.filled)

    @property
    def told(self) -> SafeString | str:
        """The status line of what is settled: who, when, and what it means."""
        approval, when = self.approval, moment(self.approval.decided_at, "at")
        said = sorted((self.name(vote["person"]) for vote in self.votes), key="You".__eq__)
        names = joined(["you" if name == "You" else name for name in said])
        if self.state == "answered":
            return format_html("{} {} · {}", _ANSWERED.get(approval.choice, "Settled by"), names, when)
        if self.state == "renewed":
            return format_html("Approved by {} · {}, and asked again before it was sent", names, when)
        if self.state == "stopped":
            stops = [one for one in self.decisions if one.verdict == "stop"]
            at = moment(stops[-1].decided_at, "at")
            return format_html(
                "Approved by {}, and stopped by {} · {}. Nothing was sent.", names, self.name(stops[-1].person), at
            )
        if self.state == "rehearsed":
            return format_html("Approved by {} · {}. It was a rehearsal: nothing was sent.", names, when)
        yes = f"Let go by {names}, breaking the glass" if self.overridden else f"Approved by {names}"
        if self.state in {"running", "approved"}:
            return format_html("{} · {}", yes, when)
        if self.state in ICONS:
            at = moment(approval.outcome_at, "second")
            return format_html("{} · {} {}", yes, "recorded" if self.found else self.outcome.word, at)
        if self.state == "expired":
            late = moment(approval.ends_at, "at")
            return format_html("Nobody decided by {}. {}", late, self.words.after_nobody)
        who, after = self.name(approval.decided_by) if approval.decided_by else "", self.words.after_no
        return format_html("By {} · {}. {}", who, when, after) if who else format_html("{}. {}", when, after)

    @property
    def glass_words(self) -> dict[str, str]:
        """Who may break the glass, who looks at it afterwards, and within which time."""
        said = self.rule.get("break_glass") or {"team": "", "review": {"team": "", "within": 0}}
        slugs = (said["team"], said["review"]["team"])
        named = people.team_names(self.workspace.pk, slugs)
        first, after = (named.get(slug, slug) for slug in slugs)
        return {"team": first, "review": after, "within": clock.span(said["review"]["within"])}

    @property
    def glass_said(self) -> str:
        """Why the glass was broken, as whoever did it said."""
        try:
            return message_of(self.overridden) if self.overridden else ""
        except Tampered:
            return "What was said is not what was sealed."

    @property
    def glass_found(self) -> str:
        """What those said who looked at it."""
        try:
            return self.glass.clear_note() if self.glass and self.glass.note else ""
        except Tampered:
            return "What was found is not what was sealed."

    @property
    def words(self) -> kinds.Kind:
        """What this kind of approval and its answers are called."""
        return kinds.kind(self.approval.kind, self.approval.tool)

    @property
    def settles(self) -> bool:
        """Whether what is asked is what became of a call: a page of its own shape."""
        return self.approval.kind == "outcome"

    @property
    def only_answer(self) -> bool:
        """Whether nothing but a response is asked for."""
        return "approve" not in self.rule["allowed_decisions"]

    @property
    def counted(self) -> str:
        """What so many of the people who are needed did."""
        return "answered" if self.only_answer else "approved"

    @property
    def choices(self) -> list[tuple[str, kinds.Option]]:
        """The options of a choice with their words."""
        return [(option, kinds.option(option)) for option in self.options]

    @property
    def consequence(self) -> str:
        """What the click on Approve does, in one sentence."""
        if not self.is_call:
            return self.words.approve_does
        if self.approval.rehearsal:
            return "It counts as always, and nothing is sent: this is a rehearsal."
        once = "" if self.approval.effect in {"pure", "natural"} else " and cannot be undone here"
        if self.open <= 1:
            which = "Yours is the last of the votes it needs" if self.required > 1 else "Your yes is enough"
            return f"{which}: the call is sent straight away{once}."
        return f"Yours is one of {words.number(self.required)} votes. Nothing is sent before the last of them."

    @property
    def saving_words(self) -> str:
        """What saving an edit does to the votes."""
        votes = words.number(self.filled)
        aside = f" and sets {votes} earlier {'vote' if self.filled == 1 else 'votes'} aside" if self.filled else ""
        vote = ", counts as your vote" if self.standing.editing_approves else ""
        after = "" if self.standing.editing_approves and self.required == 1 else " It then waits for the others."
        return f"Saving makes revision {self.approval.revision + 1}{vote}{aside}.{after}"

    @property
    def next_words(self) -> SafeString:
        if not self.is_call:
            return self._next_of_kind
        if self.approval.rehearsal:
            told = "This is a rehearsal. Once it is decided, {} is told that nothing was sent, whatever people said."
            return format_html(told, self.approval.agent)
        yes = "With your yes" if self.open <= 1 and self.may_approve else "With the last yes"
        end = "nothing runs and the run ends" if self.rule.get("on_deadline") == "cancel_run" else "nothing runs"
        parts = yes, self.approval.agent, moment(self.approval.ends_at, "at"), end
        return format_html(
            "{}, the call is sent and {} goes on with the answer. With a no, it gets the comment. "
            "If nobody answers by {}, {}.",
            *parts,
        )

    @property
    def _next_of_kind(self) -> SafeString:
        does = [self.words.approve_does] if not self.only_answer else []
        does += [self.words.respond_does] if "respond" in self.rule["allowed_decisions"] else []
        told = " ".join(each for each in [*does, self.words.reject_does] if each)
        late = "the run ends" if self.rule.get("on_deadline") == "cancel_run" else self.words.late
        return format_html("{} If nobody decides by {}, {}.", told, moment(self.approval.ends_at, "at"), late)

    # Who

    @property
    def votes(self) -> list[dict[str, Any]]:
        """The votes that count, and the no that ended it."""
        final = self.approval.revision
        given = (
            self.standing.votes
            if self.pending
            else [one for one in turns.counting(self._said_at(final)) if one.verdict in {*AGREEING, glass.VERDICT}]
        )
        given = [*given, *(one for one in self.decisions if one.verdict == "reject")]
        return [self._vote(one) for one in given]

    def _said_at(self, number: int) -> list[Decision]:
        return [one for one in self.decisions if one.revision == number]

    def _vote(self, decision: Decision) -> dict[str, Any]:
        own_edit = self.current.editor_id == decision.person_id and decision.verdict == "approve"
        did = {
            "reject": self.words.rejected,
            "respond": _RESPONDED.get(decision.choice, "answered"),
            "choose": kinds.option(decision.choice).told,
            "override": "broke the glass",
        }.get(decision.verdict)
        did = did or ("approved the edit" if own_edit else "approved")
        person = decision.person
        return {
            "person": person,
            "name": self.giver(decision),
            "initials": person.initials,
            "did": did,
            "when": decision.decided_at,
        }

    @property
    def seats(self) -> list[str]:
        """Who could fill each seat that is still open."""
        if not self.pending:
            return []
        names = (["You"] if self.may_approve else []) + [person.first_name for person in self.standing.others]
        who = joined(names, last="or") if len(names) <= 4 else f"{names[0]} or one of {len(names) - 1} others"
        return [who or "Nobody who is left"] * self.open

    @cached_property
    def everyone(self) -> list[explaining.Someone]:
        """All who may decide, and of each why their yes would not count, if it would not."""
        if not self.pending or self.standing.code == "tampered":
            return []
        return explaining.everyone(votes.ballot(self.approval, self.current))

    @cached_property
    def differences(self) -> list[str]:
        """In what a change differs from what is in force, line by line."""
        if self.approval.kind != "change":
            return []
        return changes.differences(self.approval, self.before, self.last_args)

    @cached_property
    def policy_lines(self) -> list[compared.Line]:
        """The rules in which a new version of the policy differs from what is in force, as sentences."""
        if self.approval.tool != "change.policy" or self.approval.kind != "change":
            return []
        teams = people.team_names(self.workspace.pk, seating.named(self.before, self.last_args))
        return [line for line in compared.lines(self.before, self.last_args, teams) if line.news]

    @property
    def known(self) -> list[known.Fact]:
        """What the machine knows of the matter, beside what is asked."""
        return known.facts(self)

    @property
    def next_level(self) -> SafeString | str:
        return levels.next_level(self)

    @property
    def history(self) -> list[story.Item]:
        return story.story(self, levels.meanwhile(self))
