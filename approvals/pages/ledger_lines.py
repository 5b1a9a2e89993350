"""Entries of the ledger as lines of its page: who, what, of which call, and whether each is as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import F
from django.urls import reverse
from django.utils.safestring import SafeString

from approvals import filing, masking, people, rows
from approvals.approvals import Approval
from approvals.channels.card import Card
from approvals.filing import Filed
from approvals.ledger import followed, keys
from approvals.ledger.entries import Entry, hash_after
from approvals.pages import ledger_words
from approvals.pages.cards import card_in
from approvals.people import Person, Workspace
from approvals.revisions import Revision

SYSTEM = "system"
OURS = "Placet"
"""What is done by nobody in person."""
CHANNELS = {"web": "Web", "api": "API", "command": "Command", "slack": "Slack", "email": "E-mail"}


@dataclass(frozen=True)
class Line:
    """One entry as a reader sees it."""

    workspace: Workspace
    entry: Entry
    body: Mapping[str, Any]
    names: Mapping[str, str]
    filed: Filed | None
    card: Card | None

    @property
    def address(self) -> str:
        return reverse("ledger_entry", args=[self.workspace.slug, self.entry.public_id])

    @property
    def by(self) -> str:
        return str(self.body.get("by", ""))

    @property
    def who(self) -> str:
        return self.names.get(self.by, self.by) or "?"

    @property
    def initials(self) -> str:
        """At most two letters of the name."""
        parts = self.who.split()
        return (parts[0][0] + (parts[-1][0] if len(parts) > 1 else "")).upper() if parts else "?"

    @property
    def in_person(self) -> bool:
        return self.by.startswith(f"{Person.PREFIX}_")

    @property
    def what(self) -> SafeString:
        return ledger_words.told(self.body, self.names)

    @property
    def plain(self) -> str:
        return ledger_words.plain(self.body, self.names)

    @property
    def tool(self) -> str:
        return self.filed.tool if self.filed else ""

    @property
    def agent(self) -> str:
        return self.filed.agent if self.filed else ""

    @property
    def via(self) -> str:
        named = str(self.body.get("via", ""))
        return CHANNELS.get(named, named)

    @property
    def chain(self) -> str:
        return self.entry.chain.name

    @property
    def short(self) -> str:
        """The entry's place, short: the end of its chain's name and its number."""
        return f"{self.chain if self.chain == followed.CHAIN else self.chain[-4:]}·{self.entry.seq}"

    @property
    def seal(self) -> str:
        return bytes(self.entry.hash).hex()

    @cached_property
    def holds(self) -> bool:
        """Whether the entry is as it was written: its content gives its hash, and the code over that is ours."""
        if hash_after(self.entry.prev, self.entry.body) != bytes(self.entry.hash):
            return False
        try:
            return keys.holds("ledger", bytes(self.entry.hash), bytes(self.entry.mac))
        except keys.UnknownKey:
            return False

    @property
    def approval(self) -> str:
        """The address of the approval that it tells of."""
        named = str(self.body.get("approval", ""))
        return reverse("review", args=[self.workspace.slug, named]) if named else ""

    @property
    def run(self) -> str:
        """The address of its run."""
        return "" if self.chain == followed.CHAIN else reverse("run", args=[self.workspace.slug, self.chain])


def lines(
    workspace: Workspace, found: Iterable[Entry], filed: Mapping[UUID, Filed], *, with_cards: bool = True
) -> list[Line]:
    """The lines of these entries, read with their chains, in a number of queries that does not grow with theirs.
    ``filed`` says under which tool and agent they are found;
    ``with_cards`` adds what their approvals ask."""
    listed = [(entry, filing.read(entry.body)) for entry in found]
    names = names_in(workspace, [body for _, body in listed])
    asked = {str(body["approval"]) for _, body in listed if body.get("approval")} if with_cards else set()
    cards = _cards(workspace, asked)
    return [
        Line(workspace, entry, body, names, filed.get(entry.pk), cards.get(str(body.get("approval", ""))))
        for entry, body in listed
    ]


def names_in(workspace: Workspace, bodies: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What the ids in these entries are called: people, agents, teams, the workspace and ourselves."""
    ids = {text for body in bodies for value in body.values() for text in _texts(value)}
    folk = {key for text in ids if (key := rows.parse_id(Person.PREFIX, text))}
    named = {rows.public_id(Person.PREFIX, key): name for key, name in people.names(folk).items()}
    return {SYSTEM: OURS, workspace.public_id: workspace.name, **filing.names(workspace.pk), **named}


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _cards(workspace: Workspace, ids: set[str]) -> dict[str, Card]:
    """The sentences of the approvals that entries tell of."""
    wanted = {key for text in ids if (key := rows.parse_id(Approval.PREFIX, text))}
    listed = list(Approval.objects.filter(workspace=workspace, pk__in=wanted).select_related("requester"))
    masking.note(workspace.pk, listed)
    current = Revision.objects.filter(approval__in=listed, number=F("approval__revision")).select_related("ruling")
    of = {one.approval_id: one for one in current}
    return {one.public_id: card_in(one, of[one.pk]) for one in listed if one.pk in of}
