"""One approval as one reader sees it: everything the review page says, worked out from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals import revisions, rows
from approvals.approvals import Approval, context_of
from approvals.channels import card as words
from approvals.channels.card import Card
from approvals.decisions import Decision, decisions_of
from approvals.edits.difference import difference
from approvals.edits.table import Argument, masked_count, table
from approvals.ledger.sealing import Tampered
from approvals.pages import story
from approvals.pages.cards import args_in, card_of, tool_of
from approvals.pages.tags import moment
from approvals.people import Person, Team, Workspace
from approvals.revisions import Revision
from approvals.votes import Standing, standing

MAY_REJECT = {"", "self_review", "editor_cannot_approve", "already_voted", "decision_not_allowed"}
"""Reasons for which a person may not approve, and may still reject."""


@dataclass(frozen=True)
class Chip:
    """The state of the page in one word or two."""

    text: str
    tone: str = ""
    icon: str = ""


CHIPS = {
    "running": Chip("Approved, about to run", "wait"),
    "answered": Chip("Answered"),
    "executed": Chip("Done", "good", "check"),
    "failed": Chip("Failed", "bad", "cross"),
    "unknown": Chip("Outcome unknown", "wait", "unknown"),
    "rejected": Chip("Rejected", "bad", "cross"),
    "expired": Chip("Expired"),
    "cancelled": Chip("Withdrawn"),
    "superseded": Chip("Replaced"),
}


class Asked:
    """What is asked, how it stands, and what this reader may do about it. Reads only; inside `rows.within`."""

    def __init__(self, workspace: Workspace, approval: Approval, reader: Person, *, since: int = 1) -> None:
        self.workspace, self.approval, self.reader = workspace, approval, reader
        self.since = since if 0 < since < approval.revision else 1
        self.now = rows.now()

    # The call

    @cached_property
    def revisions(self) -> dict[int, Revision]:
        return {one.number: one for one in revisions.revisions(self.approval)}

    @property
    def current(self) -> Revision:
        return self.revisions[self.approval.revision]

    def args_at(self, number: int) -> Any:
        """The arguments of a revision."""
        if number not in self._args:
            self._args[number] = args_in(self.revisions[number])
        return self._args[number]

    @cached_property
    def _args(self) -> dict[int, Any]:
        return {}

    def card_at(self, number: int) -> Card:
        """The words for a revision."""
        return card_of(self.approval, self.args_at(number))

    @cached_property
    def card(self) -> Card:
        return self.card_at(self.approval.revision)

    @cached_property
    def arguments(self) -> list[Argument]:
        """What will run, with what changed since the revision it is compared with."""
        before = self.args_at(self.since) if self.edited else None
        return table(self.args_at(self.approval.revision), tool_of(self.approval), before=before)

    @property
    def masked(self) -> int:
        """How many values are masked."""
        return masked_count(self.arguments)

    @property
    def last_changed(self) -> str:
        """What the last edit changed."""
        return self.changed_fields(self.approval.revision)

    @property
    def edited(self) -> bool:
        return self.approval.revision > 1

    @property
    def editor(self) -> str:
        return self.name(self.current.editor) if self.current.editor else ""

    def changed_fields(self, number: int) -> str:
        """What an edit changed, by name: ``amount and note``, or how many fields where they are many."""
        names = [change.name for change in self.changes(number - 1, number)]
        return joined(names) if len(names) <= 3 else f"{len(names)} fields"

    def changes(self, old: int, new: int) -> list[Any]:
        """The differences between two revisions."""
        return difference(self.args_at(old), self.args_at(new), tool_of(self.approval))

    @cached_property
    def voided(self) -> int:
        """How many yeses for the revision before the last edit no longer count."""
        return sum(one.verdict == "approve" and one.revision == self.approval.revision - 1 for one in self.decisions)

    # How it stands

    @property
    def state(self) -> str:
        """One word: pending, running, an outcome, or how it ended. Past its deadline it is expired, swept or not."""
        approval = self.approval
        if approval.status == "pending":
            return "pending" if approval.expires_at > self.now else "expired"
        if approval.status == "approved":
            return "running" if approval.outcome == "none" else str(approval.outcome)
        return str(approval.status)

    @property
    def pending(self) -> bool:
        return self.state == "pending"

    @property
    def soon(self) -> bool:
        return self.approval.expires_at - self.now <= timedelta(hours=1)

    @property
    def version(self) -> str:
        """Changes with everything that an open page shows and somebody else may change."""
        return f"{self.approval.revision}.{len(self.decisions)}.{self.state}"

    @cached_property
    def standing(self) -> Standing:
        return standing(self.approval, self.reader)

    @cached_property
    def decisions(self) -> list[Decision]:
        return decisions_of(self.approval)

    @property
    def filled(self) -> int:
        return self.standing.filled

    @property
    def required(self) -> int:
        return self.standing.required or self.approval.required

    @property
    def open(self) -> int:
        return max(0, self.required - self.filled)

    @property
    def may_approve(self) -> bool:
        return self.pending and self.standing.may

    @property
    def may_edit(self) -> bool:
        return self.pending and self.standing.may_edit

    @property
    def may_reject(self) -> bool:
        return self.pending and self.standing.code in MAY_REJECT

    @property
    def why_not(self) -> str:
        """Why this reader may not approve."""
        if self.standing.code == "not_allowed":
            return f"This is for {joined(list(self.team_names.values()))} to decide. You are not one of them."
        if self.standing.code == "already_voted" and self.open:
            return f"You approved this. It waits for {words.number(self.open)} more."
        return self.standing.reason

    @property
    def chip(self) -> Chip:
        return Chip(self.waiting_words, "wait") if self.pending else CHIPS[self.state]

    @property
    def waiting_words(self) -> str:
        needs = [(self.team_names.get(need["team"], need["team"]), need["count"]) for need in self.rule["approvals"]]
        return words.waiting_for(needs, self.filled)

    @property
    def told(self) -> SafeString | str:
        """The status line of what is settled: who, when, and what it means."""
        approval, when = self.approval, moment(self.approval.decided_at, "at")
        names = joined(sorted((self.name(vote["person"]) for vote in self.votes), key="You".__eq__)).replace(
            " You", " you"
        )
        if self.state in {"running", "executed", "failed", "unknown"}:
            ran = format_html(" · ran at {}", moment(approval.outcome_at, "second")) if self.state == "executed" else ""
            return (
                format_html("Approved by {}{}", names, ran) if ran else format_html("Approved by {} · {}", names, when)
            )
        if self.state == "expired":
            return format_html("Nobody decided by {}. Nothing ran.", moment(approval.expires_at, "at"))
        who = self.name(approval.decided_by) if approval.decided_by else ""
        return format_html("By {} · {}. Nothing ran.", who, when) if who else format_html("{}. Nothing ran.", when)

    # The rule

    @property
    def rule(self) -> dict[str, Any]:
        return dict(self.approval.rule)

    @property
    def first_rule(self) -> dict[str, Any]:
        return dict(self.revisions[1].ruling.rule)

    @cached_property
    def team_names(self) -> dict[str, str]:
        known = dict(
            Team.objects.filter(workspace=self.workspace, slug__in=self.approval.teams).values_list("slug", "name")
        )
        return {slug: known.get(slug, slug) for slug in self.approval.teams}

    def needs_of(self, rule: Mapping[str, Any]) -> str:
        """Whom a rule asks: ``two of Finance``."""
        return joined(
            [
                f"{words.number(need['count'])} of {self.team_names.get(need['team'], need['team'])}"
                for need in rule["approvals"]
            ]
        )

    @property
    def needs(self) -> str:
        return self.needs_of(self.rule)

    @property
    def rule_reason(self) -> str:
        reason = str(self.rule["reason"]).strip()
        return reason if not reason or reason[-1] in ".!?" else f"{reason}."

    @property
    def editor_rule(self) -> str:
        if "edit" not in self.rule["allowed_decisions"]:
            return "It cannot be edited."
        if not self.rule["editor_may_approve"]:
            return "Whoever edits leaves the yes to others."
        return "Whoever edits counts as one of them." if self.required > 1 else ""

    @property
    def risk_word(self) -> str:
        return {"high": "High risk", "medium": "Medium risk", "low": "Low risk"}.get(
            self.approval.risk, self.approval.risk
        )

    @property
    def risk_reason(self) -> str:
        return words.risk_reason(self.approval.effect, moves_money=self.card.moves_money)

    @property
    def consequence(self) -> str:
        """What the click on Approve does, in one sentence."""
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
        yes = "With your yes" if self.open <= 1 else "With the last yes"
        end = "nothing runs and the run ends" if self.rule.get("on_deadline") == "cancel_run" else "nothing runs"
        parts = yes, self.approval.agent, moment(self.approval.expires_at, "at"), end
        return format_html(
            "{}, the call is sent and {} goes on with the answer. With a no, it gets the comment. "
            "If nobody answers by {}, {}.",
            *parts,
        )

    # Who

    def name(self, person: Person | None) -> str:
        """A person as the reader knows them."""
        if person is None:
            return ""
        return "You" if person.pk == self.reader.pk else person.first_name

    @property
    def votes(self) -> list[dict[str, Any]]:
        """The votes that count, and the no that ended it."""
        final = self.approval.revision
        given = (
            self.standing.votes
            if self.pending
            else [one for one in self.decisions if one.revision == final and one.verdict == "approve"]
        )
        given = [*given, *(one for one in self.decisions if one.verdict == "reject")]
        return [self._vote(one) for one in given]

    def _vote(self, decision: Decision) -> dict[str, Any]:
        own_edit = self.current.editor_id == decision.person_id and decision.verdict == "approve"
        did = "rejected it" if decision.verdict == "reject" else "approved the edit" if own_edit else "approved"
        person = decision.person
        return {
            "person": person,
            "name": self.name(person),
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

    # What the agent said

    @cached_property
    def context(self) -> dict[str, Any]:
        try:
            return context_of(self.approval)
        except Tampered:
            return {"reason": "What the agent said is not what was sealed here, and is not shown.", "messages": []}

    @property
    def reason(self) -> str:
        return str(self.context.get("reason") or "")

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.context.get("messages") or [])

    @property
    def history(self) -> list[story.Item]:
        return story.story(self)

    # Addresses

    @property
    def public_id(self) -> str:
        return self.approval.public_id

    @property
    def url(self) -> str:
        return reverse("review", args=[self.workspace.slug, self.public_id])

    @property
    def run_url(self) -> str:
        return _address("run", self.workspace.slug, self.approval.chain)

    @property
    def result_url(self) -> str:
        """Where the machine tells what became of the call, once it was cleared to run."""
        wanted = self.state in {"running", "executed", "failed", "unknown"}
        return _address("call", self.workspace.slug, self.approval.subject) if wanted else ""


def joined(parts: list[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def _address(name: str, *args: str) -> str:
    """The address of a page of the machine's; nothing where none is installed."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
