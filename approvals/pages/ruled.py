"""The rule of an approval in words: whom it asks, how many, and what it lets them say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from approvals import bars, people, revisions
from approvals.channels import card as words
from approvals.pages import levels
from approvals.pages.asked import Asked
from approvals.votes import seat_named


class Ruled(Asked):
    """An approval with the words for its rule."""

    @property
    def first_rule(self) -> dict[str, Any]:
        return revisions.rule_of(self.approval, self.revisions[1])

    @cached_property
    def team_names(self) -> dict[str, str]:
        seats = sorted(set(bars.seats(self.rule)))
        known = people.team_names(self.workspace.pk, seats)
        return {seat: seat_named(seat, self.approval.agent, known) for seat in seats}

    @cached_property
    def joining(self) -> list[str]:
        return levels.joining(self)

    def who_of(self, seat: str, joining: list[str]) -> str:
        """Who may take a seat: ``Finance``, and ``Finance or Managers`` once they may as well."""
        name = self.team_names.get(seat, seat)
        return joined([name, *(team for team in joining if team != name)], last="or")

    def needs_of(self, rule: Mapping[str, Any], joining: list[str] | None = None) -> str:
        """Whom a rule asks: ``two of Finance``."""
        needs = [(need["count"], self.who_of(need["team"], joining or [])) for need in rule["approvals"]]
        return joined([f"{words.number(count)} of {team}" for count, team in needs])

    @property
    def needs(self) -> str:
        """The same with those who may decide by now because nobody had."""
        return self.needs_of(self.rule, self.joining)

    @property
    def unruled(self) -> bool:
        """Whether no rule of the policy speaks of it, so that the machine's own choice of people stands."""
        return not self.is_call and not self.first_rule["match"]

    @property
    def rule_reason(self) -> str:
        reason = str(self.rule["reason"]).strip()
        return reason if not reason or reason[-1] in ".!?" else f"{reason}."

    @property
    def editor_rule(self) -> str:
        if "edit" not in self.rule["allowed_decisions"]:
            return "It cannot be edited." if self.is_call else ""
        if not self.rule["editor_may_approve"]:
            return "Whoever edits leaves the yes to others."
        return "Whoever edits counts as one of them." if self.required > 1 else ""

    @property
    def standing_words(self) -> str:
        """How far the rule lets people say yes to such calls beforehand; nothing where it does not."""
        limits = self.rule.get("standing") if self.is_call and self.pending else None
        if not limits:
            return ""
        calls = "one call" if limits["uses"] == 1 else f"{limits['uses']} calls"
        return f"Who decides this may also give a standing grant for {calls} like it, within {lasting(limits['for'])}."

    @property
    def message_needed(self) -> bool:
        """Whether what agrees needs words beside it, and not a no alone."""
        wanted = set(self.rule.get("require_message_on", ()))
        return bool(wanted & {"approve", "choose", "respond"} & set(self.rule["allowed_decisions"]))

    @property
    def editing_needs_message(self) -> bool:
        """Whether an edit, or the yes that it is, needs words beside it."""
        counted = {"edit", "approve"} if self.standing.editing_approves else {"edit"}
        return bool(counted & set(self.rule.get("require_message_on", ())))

    @property
    def risk_word(self) -> str:
        return {"high": "High risk", "medium": "Medium risk", "low": "Low risk"}.get(
            self.approval.risk, self.approval.risk
        )

    @property
    def risk_reason(self) -> str:
        return words.risk_reason(self.approval.effect, moves_money=self.card.moves_money)


def lasting(seconds: int) -> str:
    """A length of time in the largest unit that it is whole in."""
    unit, length = next((unit, length) for unit, length in LENGTHS if seconds % length == 0)
    count = seconds // length
    return f"{count} {unit}{'s' if count != 1 else ''}"


LENGTHS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def joined(parts: list[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""
