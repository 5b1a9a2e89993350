"""Standing grants: a yes that people give beforehand, for calls like one they have seen, within limits.

A grant is asked for and decided as any approval is, of kind ``grant``: what people vote on are the bytes of its terms.
Its row is an index and proves nothing. What holds is read from those bytes, from the votes, and from the entries of the
workspace's chain, which say what was used and what ended it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import rows, schemas
from approvals.approvals import Approval
from approvals.edits import places
from approvals.ledger import canonical, entries, followed, keys
from approvals.policy_standing import LARGEST
from approvals.resolutions import OF_THE_WORKSPACE


class Grant(rows.Row):
    """One standing grant: where it is asked for, and by which calls it is found."""

    PREFIX = "grt"

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="grants")
    tool = models.CharField(max_length=200)
    agent = models.CharField(max_length=120)
    definition_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["workspace", "tool", "until"], name="grants_of_a_tool")]


class GrantUse(rows.Row):
    """One call that was let through. Counted while the grants are locked, and signed."""

    PREFIX = "gus"
    WRITE_ONCE = True

    grant = models.ForeignKey(Grant, models.PROTECT, related_name="uses")
    number = models.PositiveIntegerField()
    subject = models.CharField(max_length=80)
    amount = models.BigIntegerField()
    mac = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["grant", "number"], name="one_use_of_a_number"),
            models.UniqueConstraint(fields=["grant", "subject"], name="one_use_for_a_subject"),
        ]

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("grant", _signed(self), bytes(self.mac))


def _signed(use: GrantUse) -> bytes:
    return canonical.encode([use.workspace_id.hex, use.grant_id.hex, use.pk.hex, use.number, use.subject, use.amount])


# The terms


@dataclass(frozen=True)
class Terms:
    """What people say yes to: calls of one tool, in one definition, by one agent, under one rule; with exactly these
    arguments, named by their SHA-256, or with any that fit a pattern; until a moment, so often, up to a sum."""

    tool: str
    agent: str
    definition: str
    rule: str
    like: str
    until: str
    uses: int
    exactly: str = ""
    pattern: Mapping[str, Any] | None = None
    sum_of: str = ""
    sum_at_most: int = LARGEST

    def within(self, rule: Mapping[str, Any], given: datetime) -> Terms:
        """These terms, which were ``given`` then, as far as the rule of today lets people say yes beforehand. A rule
        that limits another argument than the terms do, or one that they do not limit, lets nothing through."""
        limits: Mapping[str, Any] = rule["standing"]
        limit = limits.get("sum", {"of": self.sum_of, "at_most": self.sum_at_most})
        return replace(
            self,
            until=min(self.until, instant(given + timedelta(seconds=limits["for"]))),
            uses=min(self.uses, limits["uses"]),
            sum_at_most=min(self.sum_at_most, limit["at_most"]) if limit["of"] == self.sum_of else NOTHING,
        )

    def encoded(self) -> bytes:
        """The bytes that people vote on."""
        said: dict[str, Any] = {name: getattr(self, name) for name in ("tool", "agent", "definition", "rule", "like")}
        said |= {"until": self.until, "uses": self.uses}
        said |= {"exactly": self.exactly} if self.pattern is None else {"pattern": dict(self.pattern)}
        said |= {"sum": {"of": self.sum_of, "at_most": self.sum_at_most}} if self.sum_of else {}
        return canonical.encode(said)

    @classmethod
    def read(cls, said: bytes) -> Terms:
        """The terms that these bytes are."""
        members = dict(canonical.parse(said))
        limit = members.pop("sum", None)
        return cls(**members, **({"sum_of": limit["of"], "sum_at_most": limit["at_most"]} if limit else {}))

    def amount(self, args: Any) -> int | None:
        """What a call counts towards the sum: 0 where none is limited, None where it cannot be counted."""
        if not self.sum_of:
            return 0
        value = places.at(args, self.sum_of)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None

    def fit(self, args: bytes) -> bool:
        """Whether the arguments, in their canonical bytes, are those that were meant."""
        if self.pattern is None:
            return canonical.sha256_hex(args) == self.exactly
        return not schemas.validate(dict(self.pattern), canonical.parse(args))


NOTHING: Final = -1
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "title": "Tool"},
        "agent": {"type": "string", "title": "Agent"},
        "rule": {"type": "string", "title": "Instead of asking under rule"},
        "like": {"type": "string", "title": "Like the call of"},
        "pattern": {"type": "object", "title": "Any arguments that fit"},
        "exactly": {"type": "string", "title": "Exactly the same arguments, SHA-256"},
        "until": {"type": "string", "title": "Until"},
        "uses": {"type": "integer", "title": "So often at most"},
        "sum": {
            "type": "object",
            "title": "Together at most",
            "properties": {"of": {"type": "string"}, "at_most": {"type": "integer"}},
        },
        "definition": {"type": "string", "title": "The tool’s definition, SHA-256"},
    },
}
"""How the terms are shown."""


# What the ledger says


@dataclass(frozen=True)
class Used:
    """One use by its entry."""

    subject: str
    amount: int


@dataclass(frozen=True)
class Told:
    """What the entries of a workspace say of its grants: which tool each is for, what was used, what ended it."""

    tool: Mapping[str, str] = field(default_factory=dict)
    used: Mapping[str, tuple[Used, ...]] = field(default_factory=dict)
    ended: Mapping[str, str] = field(default_factory=dict)

    def after(self, told: Iterable[Mapping[str, Any]]) -> Told:
        tool, used, ended = dict(self.tool), dict(self.used), dict(self.ended)
        for entry in told:
            match entry["kind"]:
                case "grant.asked":
                    tool[entry["grant"]] = entry["tool"]
                case "grant.used":
                    before = used.get(entry["grant"], ())
                    used[entry["grant"]] = (*before, Used(entry["subject"], int(entry["amount"])))
                case "grant.ended":
                    ended.setdefault(entry["grant"], ENDED)
                case "tool.registered":
                    of_tool = [grant for grant, name in tool.items() if name == entry["name"]]
                    ended |= {grant: ended.get(grant, CHANGED) for grant in of_tool}
        return replace(self, tool=tool, used=used, ended=ended)


ENDED: Final = "It was ended early."
CHANGED: Final = "A new version of its tool was registered."
KINDS: Final = ("grant.asked", "grant.used", "grant.ended", "tool.registered")
_TOLD: Final = followed.Followed(KINDS, Told(), Told.after)


def told(workspace_id: UUID) -> Told:
    """What the entries say now, each of them proved. Raises ledger.about.Broken."""
    return _TOLD.of(workspace_id)


# Questions


def lapse(grant: Grant, terms: Terms, subject: str, at: datetime) -> str:
    """Why a call that was let through under a grant may not go any more; nothing where it may. Raises
    ledger.about.Broken."""
    said = told(grant.workspace_id)
    if why := said.ended.get(grant.public_id, ""):
        return f"The standing grant {grant.public_id} is over. {why}"
    if instant(at) >= terms.until:
        return f"The standing grant {grant.public_id} ran out before the call could run."
    uses = said.used.get(grant.public_id, ())
    number = next((place for place, use in enumerate(uses, 1) if use.subject == subject), 0)
    spent = sum(use.amount for use in uses[:number])
    if not 0 < number <= terms.uses or spent > terms.sum_at_most:
        return f"The standing grant {grant.public_id} does not cover this call by the ledger."
    return ""


def spent(grant: Grant) -> tuple[int, int] | None:
    """How often the grant was used and what that adds up to, for whoever holds the lock; None where rows and entries
    do not say the same. Raises ledger.about.Broken or keys.UnknownKey."""
    mine = {use.subject: use for use in grant.uses.order_by("number")}
    entered = told(grant.workspace_id).used.get(grant.public_id, ())
    same = all(each.subject in mine and mine[each.subject].amount == each.amount for each in entered)
    numbered = [use.number for use in mine.values()] == [*range(1, len(mine) + 1)]
    if not same or not numbered or len({each.subject for each in entered}) < len(entered):
        return None
    if not all(use.holds() for use in mine.values()):
        return None
    return len(mine), sum(use.amount for use in mine.values())


def instant(moment: datetime) -> str:
    """A moment as terms say it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def live(workspace_id: UUID, *, tool: str, agent: str, definition: str) -> list[Grant]:
    """The grants that may cover calls of this tool by this agent, the one that ends first in front."""
    found = Grant.objects.filter(workspace_id=workspace_id, tool=tool, agent=agent, definition_digest=definition)
    return list(found.filter(ended_at=None, until__gt=rows.Now(), approval__status="approved").order_by("until", "pk"))


# Verbs


def lock(workspace_id: UUID) -> None:
    """Take the workspace's grants until the open transaction ends. Whoever holds them locks neither approval nor run
    afterwards, so one lock for all of them stands in nobody's way twice."""
    rows.one_at_a_time(f"grants {workspace_id.hex}")


def use(grant: Grant, subject: str, *, number: int, amount: int, by: str) -> None:
    """Write that a call is let through; under the lock."""
    used = GrantUse(
        workspace_id=grant.workspace_id, grant=grant, subject=subject, number=number, amount=amount, mac=b""
    )
    used.mac = keys.sign("grant", _signed(used))
    used.save(force_insert=True)
    body = {"grant": grant.public_id, "subject": subject, "number": number, "amount": amount}
    entries.append(grant.workspace_id, OF_THE_WORKSPACE, "grant.used", body, by=by)


def end(grant: Grant, *, by: str) -> bool:
    """End a grant at once, also for calls that it let through and that are not sent yet. False if it had ended."""
    with rows.within(grant.workspace_id):
        lock(grant.workspace_id)
        if not Grant.objects.filter(pk=grant.pk, ended_at=None).update(ended_at=rows.Now()):
            return False
        entries.append(grant.workspace_id, OF_THE_WORKSPACE, "grant.ended", {"grant": grant.public_id}, by=by)
    return True


# For `ledger verify`


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every use that is not as it was written, that no entry tells of, or that is gone."""
    told = Told().after(entries.read(workspace_id, OF_THE_WORKSPACE, only=KINDS))
    entered = {(grant, use.subject, use.amount) for grant, uses in told.used.items() for use in uses}
    here = set()
    for use in GrantUse.objects.filter(workspace_id=workspace_id).order_by("created_at").iterator(500):
        named = (rows.public_id(Grant.PREFIX, use.grant_id), use.subject, use.amount)
        here.add(named)
        if not _genuine(use):
            yield f"use {use.number} of {named[0]} is not as it was written."
        elif named not in entered:
            yield f"no entry tells of use {use.number} of {named[0]}."
    for name, subject, _ in sorted(entered - here):
        yield f"the use of {name} by {subject} is gone."
    for grant in Grant.objects.filter(workspace_id=workspace_id, ended_at=None).order_by("created_at"):
        if told.ended.get(grant.public_id) == ENDED:
            yield f"{grant.public_id} was ended, and its row says that it is in force."


def _genuine(use: GrantUse) -> bool:
    try:
        return use.holds()
    except keys.UnknownKey:
        return False
