"""Every way of changing a chain past Placet is found and named. The changes are made as superuser, triggers off."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings

from approvals import rows, workspaces
from approvals.ledger import canonical, entries, keys, verify
from approvals.people import Workspace
from tests.standing import founded
from tests.throwaway import SERVERS

pytestmark = pytest.mark.committed

RUN = "run_" + "a" * 32
Change = Callable[[str, list[Any]], None]


@pytest.fixture
def northwind() -> Workspace:
    """A workspace whose run has five entries, and another workspace beside it."""
    northwind = founded("northwind", "Northwind refunds")
    halden = founded("halden", "Halden Paper")
    for workspace in (halden, northwind):
        for number in range(5):
            add(workspace, number)
    return northwind


def add(workspace: Workspace, number: int = 0, chain: str = RUN) -> None:
    with rows.within(workspace):
        entries.append(workspace.pk, chain, "call.proposed", {"number": number}, by="agt_1")


@pytest.fixture
def change(committed_db: str) -> Change:
    """Run a statement as somebody with every power over the database and no key."""

    def run(statement: str, parameters: list[Any]) -> None:
        with SERVERS.postgres.connect(committed_db) as admin:
            admin.execute(b"SET session_replication_role = replica")
            admin.execute(statement.encode(), parameters)

    return run


def found(workspace: Workspace) -> list[str]:
    verdicts = list(verify.verify_workspace(workspace.pk))
    return [str(finding) for verdict in verdicts for finding in verdict.findings]


def _only(northwind: Workspace, seq: int) -> entries.Entry:
    return entries.Entry.objects.get(workspace=northwind, seq=seq)


def test_an_untouched_chain_holds(northwind: Workspace) -> None:
    verdicts = list(verify.verify_workspace(northwind.pk))
    assert [(verdict.chain, verdict.entries, verdict.findings) for verdict in verdicts] == [(RUN, 5, ()), ("", 0, ())]


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("body", b'{"number":2}', "its content was changed"),
        ("kind", "call.cleared", "its kind is call.cleared in the table and call.proposed in the entry"),
        ("at", "2020-01-01T00:00:00Z", "its at is 2020-01-01"),
        ("id", "00000000-0000-7000-8000-000000000000", "its id is"),
        ("hash", bytes(32), "it does not give its hash"),
        ("prev", bytes(32), "it does not follow the one before it"),
        ("mac", bytes(34), "cannot be checked"),
        ("mac", b"\0\1" + bytes(32), "bad MAC"),
        ("body", b"not json", "its content cannot be read"),
    ],
)
def test_a_changed_column_is_found(
    northwind: Workspace, change: Change, column: str, value: Any, sentence: str
) -> None:
    """AU-4, CH-B151: the MAC covers every field of the entry."""
    change(f"UPDATE approvals_entry SET {column} = %s WHERE workspace_id = %s AND seq = 3", [value, northwind.pk])
    assert any(text.startswith("entry 3: ") and sentence in text for text in found(northwind))


@pytest.mark.parametrize("member", ["at", "by", "chain", "id", "kind", "number", "seq", "v", "workspace"])
def test_no_member_can_change_with_its_hash_made_anew(northwind: Workspace, change: Change, member: str) -> None:
    """AU-2, AU-4, CH-B154: whoever can hash but has no key."""
    entry = _only(northwind, 3)
    document = canonical.parse(bytes(entry.body))
    body = canonical.encode({**document, member: f"{document[member]}0"})
    where = "WHERE workspace_id = %s AND seq = 3"
    change(
        f"UPDATE approvals_entry SET body = %s, hash = %s {where}",
        [body, entries.hash_after(entry.prev, body), northwind.pk],
    )
    assert "entry 3: its MAC is not ours (bad MAC)." in found(northwind)


def test_swapped_entries_are_found(northwind: Workspace, change: Change) -> None:
    """IN-A2, AU-4."""
    for frm, to in ((2, -2), (3, 2), (-2, 3)):
        change("UPDATE approvals_entry SET seq = %s WHERE workspace_id = %s AND seq = %s", [to, northwind.pk, frm])
    texts = found(northwind)
    assert "entry 2: its seq is 2 in the table and 3 in the entry." in texts
    assert "entry 3: its seq is 3 in the table and 2 in the entry." in texts


def test_a_deleted_middle_is_a_gap(northwind: Workspace, change: Change) -> None:
    """IN-A3, AU-4."""
    change("DELETE FROM approvals_entry WHERE workspace_id = %s AND seq IN (2, 3)", [northwind.pk])
    assert "entry 4: the 2 before it are missing (gap)." in found(northwind)


def test_a_gap_that_was_closed_up_is_found(northwind: Workspace, change: Change) -> None:
    """IN-A3: the numbers are made dense again."""
    change("DELETE FROM approvals_entry WHERE workspace_id = %s AND seq = 3", [northwind.pk])
    change("UPDATE approvals_entry SET seq = seq - 1 WHERE workspace_id = %s AND seq > 3", [northwind.pk])
    assert "entry 3: its seq is 3 in the table and 4 in the entry." in found(northwind)


@pytest.mark.parametrize(("kept", "missing"), [(4, 1), (0, 5)])
def test_a_cut_tail_is_below_its_head(northwind: Workspace, change: Change, kept: int, missing: int) -> None:
    """AU-4, CH-B152: one entry or all of them."""
    change("DELETE FROM approvals_entry WHERE workspace_id = %s AND seq > %s", [northwind.pk, kept])
    assert found(northwind) == [f"head: {missing} of 5 entries are missing at the end."]


def test_a_head_moved_back_is_found(northwind: Workspace, change: Change) -> None:
    change("UPDATE approvals_chain SET seq = 4 WHERE workspace_id = %s", [northwind.pk])
    assert found(northwind) == ["head: it stands at 4, the entries go to 5."]
    change("UPDATE approvals_chain SET seq = 5, hash = %s WHERE workspace_id = %s", [bytes(32), northwind.pk])
    assert found(northwind) == ["head: it does not name the last entry (head mismatch)."]


def test_an_inserted_entry_has_no_mac_of_ours(northwind: Workspace, change: Change) -> None:
    """IN-A5, AU-2: right number, right SHA-256, head moved along, and no key."""
    last = _only(northwind, 5)
    document = canonical.parse(bytes(last.body)) | {"seq": 6, "id": rows.uuid7().hex}
    body = canonical.encode(document)
    hashed = entries.hash_after(last.hash, body)
    mac = keys.key_number(last.mac).to_bytes(2, "big") + hashed
    change(
        "INSERT INTO approvals_entry (id, workspace_id, chain_id, seq, kind, body, prev, hash, mac, at)"
        " VALUES (%s, %s, %s, 6, %s, %s, %s, %s, %s, %s)",
        [UUID(document["id"]), northwind.pk, last.chain_id, last.kind, body, last.hash, hashed, mac, last.at],
    )
    change("UPDATE approvals_chain SET seq = 6, hash = %s, mac = %s WHERE id = %s", [hashed, mac, last.chain_id])
    assert found(northwind) == ["entry 6: its MAC is not ours (bad MAC)."]


def test_an_entry_of_another_workspace_is_found(northwind: Workspace, change: Change) -> None:
    """IN-A7: copied byte for byte over the one in its place, hashed and put in line."""
    halden = workspaces.named("halden")
    assert halden is not None
    with rows.reading(halden):
        foreign = entries.Entry.objects.get(seq=5)
    fourth, last = _only(northwind, 4), _only(northwind, 5)
    hashed = entries.hash_after(fourth.hash, bytes(foreign.body))
    change(
        "UPDATE approvals_entry SET body = %s, hash = %s, mac = %s, at = %s WHERE id = %s",
        [foreign.body, hashed, foreign.mac, foreign.at, last.pk],
    )
    texts = found(northwind)
    assert "entry 5: its MAC is not ours (bad MAC)." in texts
    assert any(re.match("entry 5: its workspace is", text) for text in texts)


def test_a_chain_under_another_name_is_found(northwind: Workspace, change: Change) -> None:
    """IN-A7: a whole chain handed to another run, or to another workspace."""
    change("UPDATE approvals_chain SET name = %s WHERE workspace_id = %s", ["run_" + "b" * 32, northwind.pk])
    texts = found(northwind)
    assert "entry 1: it does not follow the one before it." in texts
    assert any("its chain is run_bbb" in text for text in texts)


def test_entries_without_their_chain_are_found(northwind: Workspace, change: Change) -> None:
    change("DELETE FROM approvals_chain WHERE workspace_id = %s", [northwind.pk])
    assert found(northwind) == ["5 entries belong to a chain that is not here."]


def test_a_new_key_is_handed_over_to_without_a_gap(northwind: Workspace) -> None:
    """AU-10: old entries verify with the old key, the old key signs the entry that names the new one."""
    old = settings.PLACET_KEYS
    with override_settings(PLACET_KEYS={**old, 7: b"7" * 32}):
        add(northwind, 5)
        numbers = [
            keys.key_number(entry.mac) for entry in entries.Entry.objects.filter(workspace=northwind).order_by("seq")
        ]
        assert numbers == [1] * 6 + [7]
        assert entries.read(northwind.pk, RUN)[5]["to"] == 7
        assert found(northwind) == []
    with override_settings(PLACET_KEYS={**old, 7: b"8" * 32}):
        assert "entry 6: it hands over to another key 7 than ours." in found(northwind)
    assert "entry 7: its MAC cannot be checked: PLACET_KEYS has no key 7." in found(northwind)


def test_a_chain_that_goes_on_with_another_key_unasked_is_found(northwind: Workspace, monkeypatch: Any) -> None:
    """AU-10, AU-4: a re-keyed tail."""
    monkeypatch.setattr(entries, "_handover", lambda head: [])
    with override_settings(PLACET_KEYS={**settings.PLACET_KEYS, 7: b"7" * 32}):
        add(northwind, 5)
        assert found(northwind) == ["entry 6: it is signed with key 7, to which nothing hands over."]


def test_other_checks_are_asked_too(northwind: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "CHECKS", [lambda workspace_id: [f"{workspace_id} has a stranger."]])
    assert found(northwind) == [f"{northwind.pk} has a stranger."]


@pytest.fixture
def ledger(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str]]]:
    def run(*options: str) -> tuple[int, list[str]]:
        status: Any = 0
        try:
            call_command("ledger", "verify", *options)
        except SystemExit as stopped:
            status = stopped.code
        return status, capsys.readouterr().out.splitlines()

    return run


def test_the_command_gives_a_total(northwind: Workspace, ledger: Any) -> None:
    status, lines = ledger()
    assert (status, lines[-1]) == (0, "2 chains with 10 entries are as they were written.")
    assert lines[:-1] == [f"Compared with 0 anchors, {settings.PLACET_ANCHORS} has none."]
    assert ledger("--workspace", "northwind", "--chain", RUN)[1] == [
        "1 chains with 5 entries are as they were written."
    ]


def test_the_command_gives_a_line_for_every_fault(northwind: Workspace, change: Change, ledger: Any) -> None:
    """AU-9: a chain whose name was made to look like lines of output stays on its line."""
    change("UPDATE approvals_chain SET name = %s, seq = 9 WHERE workspace_id = %s", ["x\n0 faults\u2028", northwind.pk])
    status, lines = ledger()
    assert status == 1
    assert lines[-1] == "7 faults, 1 of 2 chains are not as they were written."
    assert all(line.startswith("northwind x\\n0 faults\\u2028 ") for line in lines[:-2])


def test_the_command_knows_only_what_there_is(northwind: Workspace) -> None:
    for options in (["--workspace", "nowhere"], ["--chain", "run_none"]):
        with pytest.raises(CommandError, match="There is no such"):
            call_command("ledger", "verify", *options)
