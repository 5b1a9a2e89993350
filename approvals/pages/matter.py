"""The matter that people are asked about: its bytes in every revision, what the agent said of it, and where it is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.urls import NoReverseMatch, reverse

from approvals import repeats, revisions, rows
from approvals.approvals import Approval, context_of
from approvals.channels.card import Card
from approvals.edits.difference import Change, difference
from approvals.ledger.sealing import Tampered
from approvals.pages.cards import args_in, card_of, tool_of
from approvals.people import Person, Workspace
from approvals.resolutions import OF_THE_WORKSPACE
from approvals.revisions import Revision


class Matter:
    """One approval for one reader, however it stands. Reads only; inside `rows.within`."""

    def __init__(self, workspace: Workspace, approval: Approval, reader: Person, *, since: int = 1) -> None:
        self.workspace, self.approval, self.reader = workspace, approval, reader
        self.since = since if 0 < since < approval.revision else 1
        self.now = rows.now()

    @property
    def is_call(self) -> bool:
        return self.approval.kind == Approval.Kind.CALL

    @cached_property
    def revisions(self) -> dict[int, Revision]:
        return {one.number: one for one in revisions.revisions(self.approval)}

    @property
    def current(self) -> Revision:
        return self.revisions[self.approval.revision]

    @cached_property
    def rule(self) -> dict[str, Any]:
        """The rule that people are asked under, as it was signed."""
        return revisions.rule_of(self.approval, self.current)

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

    @property
    def refused_before(self) -> str:
        """How often people refused just this before, in words; nothing where they did not."""
        return repeats.told(self.approval.refused_before)

    @property
    def edited(self) -> bool:
        return self.approval.revision > 1

    @property
    def last_args(self) -> Any:
        return self.args_at(self.approval.revision)

    def changes(self, old: int, new: int) -> list[Change]:
        """The differences between two revisions."""
        return difference(self.args_at(old), self.args_at(new), tool_of(self.approval))

    def name(self, person: Person | None) -> str:
        """A person as the reader knows them."""
        if person is None:
            return ""
        return "You" if person.pk == self.reader.pk else person.first_name

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

    # Addresses

    @property
    def public_id(self) -> str:
        return self.approval.public_id

    @property
    def url(self) -> str:
        return reverse("review", args=[self.workspace.slug, self.public_id])

    def url_of(self, approval: Approval) -> str:
        """The address of another approval's page."""
        return reverse("review", args=[self.workspace.slug, approval.public_id])

    @property
    def run_url(self) -> str:
        """The run that waits; nothing where none does."""
        chain = self.approval.chain
        return address_of("run", self.workspace.slug, chain) if chain != OF_THE_WORKSPACE else ""

    @property
    def like_url(self) -> str:
        """Of a standing grant: the page of the call that was seen."""
        if self.approval.kind != Approval.Kind.GRANT:
            return ""
        return reverse("review", args=[self.workspace.slug, str(self.args_at(1)["like"])])


def address_of(name: str, *args: str) -> str:
    """The address of a page of the machine's; nothing where none is installed."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
