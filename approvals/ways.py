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
_FACTORS: Final = {"factor.added", "factor.removed"}
_ENDING: Final = {"person.deactivated", "signin.password_reset", "factor.removed"}
_KINDS: Final = [
    *_FACTORS,
    "identity.unlinked",
    "person.deactivated",
    "person.left",
    "person.reactivated",
    "signin.password_changed",
    "signin.password_reset",
]


@dataclass(frozen=True)
class Told:
    """Who is ``off``; how many ``factors`` of each kind everybody has at least, what they added and removed while the
    workspace was told; the marks of what was ``ended``; and when all of a person's sessions last were (``out``)."""

    off: frozenset[str] = frozenset()
    factors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    out: Mapping[str, datetime] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> Told:
        off, factors, ended, out = set(self.off), Counter(self.factors), set(self.ended), dict(self.out)
        for entry in told:
            person, kind = entry["person"], entry["kind"]
            if kind == "person.deactivated":
                off.add(person)
            elif kind == "person.reactivated":
                off.discard(person)
            if kind in _FACTORS:
                _count(factors, (person, entry["factor"]), kind)
            elif kind in {"person.deactivated", "person.left"}:  # what they change from then on, nobody is told here
                factors = Counter({key: count for key, count in factors.items() if key[0] != person})
            if "ended" in entry:
                ended.add(entry["ended"])
            if kind in _ENDING and (kind != "factor.removed" or entry["by"] != person):
                out[person] = datetime.fromisoformat(entry["at"])
        return Told(frozenset(off), factors, frozenset(ended), out)


def _count(factors: Counter[tuple[str, str]], key: tuple[str, str], kind: str) -> None:
    factors[key] = max(0, factors[key] + (1 if kind == "factor.added" else -1))


_TOLD = followed.Followed(_KINDS, Told(), Told.after)


# Questions


def mark(kind: str, what: bytes) -> str:
    """By what the ledger names a way in that ended: no secret, and never that of another one."""
    return sha256(b"placet way in 1\0" + kind.encode() + b"\0" + what).hexdigest()[:MARK]


def told(person: Person) -> Iterator[Told]:
    """What each workspace of an active person is told of how people sign in. Raises ledger.about.Broken."""
    for key in workspaces.keys_of(person):
        with rows.reading(key):
            found = _TOLD.of(key)
        yield found


def told_now(workspace_id: UUID) -> Told:
    """The same of one workspace, whether or not its ledger is as it was written: for who looks for what is not."""
    return Told().after(entries.read(workspace_id, followed.CHAIN, only=_KINDS))


def has_ended(person: Person, way: str) -> bool:
    """Whether a way in of this mark was ended. Raises ledger.about.Broken."""
    return any(way in each.ended for each in told(person))
