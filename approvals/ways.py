"""Ways in: what the ledger says of how people sign in. A row that says otherwise was written past Placet, or was ended
and put back: it opens nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from approvals import rows, workspaces
from approvals.ledger import entries, followed
from approvals.people import Person

MARK: Final = 32
ASKED_FOR: Final = ("passkey", "totp")
"""The factors that are asked for at a sign-in, as the ledger names them."""
_FACTORS: Final = {"factor.added", "factor.removed"}
_ENDING: Final = {"factor.removed", "person.deactivated", "signin.all_ended", "signin.password_reset"}
_KINDS: Final = [
    *_FACTORS,
    "identity.unlinked",
    "person.deactivated",
    "person.joined",
    "person.left",
    "person.reactivated",
    "signin.all_ended",
    "signin.password_changed",
    "signin.password_reset",
]


@dataclass(frozen=True)
class Told:
    """Who is ``off`` or has left (``gone``); how many ``factors`` of each kind everybody has at least, what they added
    and removed while the workspace was told, and since when they have one (``since``); the marks of what was ``ended``;
    when all of a person's sessions last were (``out``); and when they last had an identity unlinked (``unlinked``)."""

    off: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    factors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    since: Mapping[str, datetime] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    out: Mapping[str, datetime] = field(default_factory=dict)
    unlinked: Mapping[str, datetime] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> Told:
        now = _Folding(set(self.off), set(self.gone), Counter(self.factors), dict(self.since), set(self.ended))
        out, unlinked = dict(self.out), dict(self.unlinked)
        for entry in told:
            now.take(entry["kind"], entry["person"], entry)
            if entry["kind"] in _ENDING and (entry["kind"] != "factor.removed" or entry["by"] != entry["person"]):
                out[entry["person"]] = datetime.fromisoformat(entry["at"])
            if entry["kind"] == "identity.unlinked":
                unlinked[entry["person"]] = datetime.fromisoformat(entry["at"])
        off, gone, ended = frozenset(now.off), frozenset(now.gone), frozenset(now.ended)
        return Told(off, gone, now.factors, now.since, ended, out, unlinked)


@dataclass
class _Folding:
    off: set[str]
    gone: set[str]
    factors: Counter[tuple[str, str]]
    since: dict[str, datetime]
    ended: set[str]

    def take(self, kind: str, person: str, entry: dict[str, Any]) -> None:
        if kind in {"person.deactivated", "person.reactivated"}:
            (self.off.add if kind == "person.deactivated" else self.off.discard)(person)
        elif kind in {"person.left", "person.joined"}:
            (self.gone.add if kind == "person.left" else self.gone.discard)(person)
        elif kind in _FACTORS:
            self._count(person, entry)
        if kind in {"person.deactivated", "person.left"}:  # what they change from then on, nobody is told here
            self.factors = Counter({key: count for key, count in self.factors.items() if key[0] != person})
        if "ended" in entry:
            self.ended.add(entry["ended"])
        if not any(self.factors[person, strong] for strong in ASKED_FOR):
            self.since.pop(person, None)

    def _count(self, person: str, entry: dict[str, Any]) -> None:
        key, added = (person, entry["factor"]), entry["kind"] == "factor.added"
        self.factors[key] = max(0, self.factors[key] + (1 if added else -1))
        if added and entry["factor"] in ASKED_FOR:
            self.since.setdefault(person, datetime.fromisoformat(entry["at"]))


_TOLD = followed.Followed(_KINDS, Told(), Told.after)


# Questions


def mark(kind: str, what: bytes) -> str:
    """By what the ledger names a way in that ended: no secret, and never that of another one."""
    return sha256(b"placet way in 1\0" + kind.encode() + b"\0" + what).hexdigest()[:MARK]


def told(person: Person) -> Iterator[Told]:
    """What each workspace of an active person is told of how people sign in. Raises ledger.about.Broken."""
    for key in workspaces.all_keys_of(person):
        with rows.reading(key):
            found = _TOLD.of(key)
        yield found


def told_now(workspace_id: UUID) -> Told:
    """The same of one workspace, whether or not its ledger is as it was written: for who looks for what is not."""
    return Told().after(entries.read(workspace_id, followed.CHAIN, only=_KINDS))


def has_ended(person: Person, way: str) -> bool:
    """Whether a way in of this mark was ended. Raises ledger.about.Broken."""
    return any(way in each.ended for each in told(person))
