"""What a process remembers of a workspace's ledger: added to as it grows, and never what somebody wrote past Placet."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import rows
from approvals.ledger import entries, followed
from approvals.ledger.about import Broken
from approvals.people import Workspace
from tests.standing import founded
from tests.tampering import Tamper

pytestmark = pytest.mark.committed

NAMES = followed.Followed[tuple[str, ...]](["team.formed"], (), lambda before, told: (*before, *map(_name, told)))
COUNTED = followed.Followed[int](["team.formed"], 0, lambda before, told: before + len(told))
LAST = "WHERE seq = (SELECT max(seq) FROM approvals_entry)"


def _name(entry: dict[str, Any]) -> str:
    return str(entry["name"])


def form(workspace: Workspace, *names: str, kind: str = "team.formed") -> None:
    with rows.within(workspace):
        for name in names:
            entries.append(workspace.pk, "workspace", kind, {"name": name}, by=None)


@pytest.fixture
def northwind() -> Workspace:
    workspace = founded("followed", "Followed")
    form(workspace, "finance", "legal")
    return workspace


def test_what_is_added_is_added_to_what_is_known(northwind: Workspace) -> None:
    assert NAMES.of(northwind.pk) == ("finance", "legal")
    form(northwind, "desk")
    form(northwind, "Dana", kind="person.joined")
    assert NAMES.of(northwind.pk) == NAMES.of(northwind.pk) == ("finance", "legal", "desk")


def test_a_chain_is_verified_once_for_all_who_follow_it(northwind: Workspace, tamper: Tamper) -> None:
    assert NAMES.of(northwind.pk) == ("finance", "legal")
    tamper("UPDATE approvals_entry SET body = replace(encode(body, 'escape'), 'legal', 'mafia')::bytea WHERE seq = 2")
    assert COUNTED.of(northwind.pk) == 2


def test_what_one_follower_cannot_read_stops_no_other(northwind: Workspace) -> None:
    with rows.within(northwind):
        entries.append(northwind.pk, "workspace", "team.formed", {"nameless": True}, by=None)
    assert COUNTED.of(northwind.pk) == 3
    with pytest.raises(KeyError):
        NAMES.of(northwind.pk)


def test_a_workspace_without_a_ledger_adds_up_to_nothing(committed_db: str) -> None:
    assert NAMES.of(founded("new", "New").pk) == ()


def test_an_older_entry_changed_later_changes_nothing(northwind: Workspace, tamper: Tamper) -> None:
    """AU-4: what was verified is remembered; who asks for the first time is told that it is broken."""
    assert NAMES.of(northwind.pk) == ("finance", "legal")
    tamper("UPDATE approvals_entry SET body = replace(encode(body, 'escape'), 'legal', 'mafia')::bytea WHERE seq = 2")
    assert NAMES.of(northwind.pk) == ("finance", "legal")
    followed.KNOWN.clear()
    with pytest.raises(Broken, match="its content was changed"):
        NAMES.of(northwind.pk)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (f"UPDATE approvals_entry SET mac = '\\x0001'::bytea || sha256('x') {LAST}", "bad MAC"),
        (f"UPDATE approvals_entry SET kind = 'person.joined' {LAST}", "its kind is person.joined"),
        (f"UPDATE approvals_entry SET prev = sha256('x') {LAST}", "does not follow"),
        (f"DELETE FROM approvals_entry {LAST}", "missing at the end"),
        ("DELETE FROM approvals_chain", "gone"),
    ],
)
def test_a_forged_addition_is_refused(northwind: Workspace, tamper: Tamper, statement: str, why: str) -> None:
    """CH-B154, AU-2."""
    NAMES.of(northwind.pk)
    form(northwind, "forged")
    tamper(statement)
    with pytest.raises(Broken, match=why):
        NAMES.of(northwind.pk)


def test_a_ledger_that_was_put_back_is_refused(northwind: Workspace, tamper: Tamper) -> None:
    """CH-B152, AU-5: head and entries as they were yesterday, every code of them genuine."""
    tamper("CREATE TABLE head_of_yesterday AS SELECT * FROM approvals_chain")
    form(northwind, "desk")
    NAMES.of(northwind.pk)
    tamper("DELETE FROM approvals_entry WHERE seq = 3")
    tamper("DELETE FROM approvals_chain")
    tamper("INSERT INTO approvals_chain SELECT * FROM head_of_yesterday")
    with pytest.raises(Broken, match="it stands at 2, the entries go to 3"):
        NAMES.of(northwind.pk)
