"""Changing root keys: a new data key for what is written next, the old ones wrapped anew, retired root keys kept.

Every row is a transaction of its own with its entry in the ledger: a rotation that was cut short anywhere is finished
by the next one, and one that has nothing to do changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings

from approvals import rows
from approvals.ledger import entries, keys, sealing
from approvals.ledger.keys import KeyCheck
from approvals.ledger.sealing import DataKey


@dataclass(frozen=True)
class Rotated:
    """What one rotation did: data keys made and wrapped anew, root keys that the one in use keeps from now on."""

    made: int = 0
    rewrapped: int = 0
    retired: int = 0


@dataclass(frozen=True)
class RootKey:
    """One root key as data here depend on it."""

    number: int
    here: bool
    in_use: bool
    kept_by: int | None
    data_keys: int
    keeps: int

    @property
    def removable(self) -> bool:
        """Whether PLACET_KEYS may do without it: nothing is wrapped by it, and a later key keeps it as proof."""
        return not self.in_use and not self.data_keys and not self.keeps and self.kept_by is not None


# Questions


def root_keys() -> list[RootKey]:
    """Every root key that data here were made with, by number."""
    wrapped = Counter(key.root_number for key in data_keys())
    checks = list(KeyCheck.objects.order_by("number"))
    keeps = [check.kept_by for check in checks]
    return [
        RootKey(
            number=check.number,
            here=check.number in settings.PLACET_KEYS,
            in_use=check.number == keys.current(),
            kept_by=check.kept_by,
            data_keys=wrapped.get(check.number, 0),
            keeps=keeps.count(check.number),
        )
        for check in checks
    ]


def data_keys() -> list[DataKey]:
    """Every data key, by workspace and number."""
    found: list[DataKey] = []
    for workspace_id in rows.every_workspace():
        with rows.reading(workspace_id):
            found += DataKey.objects.filter(workspace_id=workspace_id).select_related("workspace").order_by("number")
    return found


# The verb


def rotate(*, by: str, told: Callable[[str], None] = lambda line: None) -> Rotated:
    """Bring everything under the root key in use; ``told`` hears of every row. ``by`` is a public id, or "system".

    Raises keys.KeysDoNotFit, and keys.UnknownKey or sealing.Tampered for a row that cannot be opened: what was done
    until then stays done.
    """
    keys.check_fits()
    done = Rotated()
    for workspace_id in rows.every_workspace():
        done = _rotate_workspace(workspace_id, done, by, told)
    # Last: a root key is retired when nothing is wrapped by it any more.
    for check in KeyCheck.objects.order_by("number"):
        if keys.retire(check):
            done = replace(done, retired=done.retired + 1)
            told(f"root key {check.number} is kept by {keys.current()}")
    sealing.forget()
    return done


def _rotate_workspace(workspace_id: UUID, done: Rotated, by: str, told: Callable[[str], None]) -> Rotated:
    if number := _renew(workspace_id, by):
        done = replace(done, made=done.made + 1)
        told(f"{workspace_id}: data key {number} is made")
    older = DataKey.objects.filter(workspace_id=workspace_id, root_number__lt=keys.current()).order_by("number")
    with rows.reading(workspace_id):
        found = list(older.values_list("pk", "number"))
    for key_id, number in found:
        if _rewrap(workspace_id, key_id, by):
            done = replace(done, rewrapped=done.rewrapped + 1)
            told(f"{workspace_id}: data key {number} is wrapped anew")
    return done


def _renew(workspace_id: UUID, by: str) -> int | None:
    with rows.within(workspace_id):
        number = sealing.renew(workspace_id)
        if number:
            entries.append(workspace_id, "workspace", "key.made", {"key": number, "root": keys.current()}, by=by)
    return number


def _rewrap(workspace_id: UUID, key_id: UUID, by: str) -> bool:
    with rows.within(workspace_id):
        key = DataKey.objects.select_for_update().get(pk=key_id)
        before = key.root_number
        if not sealing.rewrap(key):
            return False
        body = {"key": key.number, "from": before, "to": key.root_number}
        entries.append(workspace_id, "workspace", "key.rewrapped", body, by=by)
    return True
