"""Chains of entries: added last, together with what they tell of, without forks, and never changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from approvals import rows
from approvals.ledger import canonical, entries
from approvals.ledger.entries import Chain, Entry, append, read
from approvals.ledger.verify import verify_workspace
from approvals.people import Workspace
from approvals.rows import wire
from tests.standing import founded
from tests.throwaway import SERVERS

RUN = "run_" + "a" * 32


class Sent(list[str]):
    """The statements that were sent, in their order, through Django and past it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        for name in ("rows", "run"):
            monkeypatch.setattr(wire, name, self._noting(getattr(wire, name)))

    def _noting(self, send: Callable[..., Any]) -> Callable[..., Any]:
        def noted(asked: Any, *args: Any, **named: Any) -> Any:
            self.extend([asked] if isinstance(asked, str) else [sql for sql, _ in asked])
            return send(asked, *args, **named)

        return noted

    def through_django(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self.append(sql)
        return execute(sql, *rest)


@pytest.fixture
def northwind(request: pytest.FixtureRequest) -> Workspace:
    if request.node.get_closest_marker("committed") is None:
        request.getfixturevalue("db")
    return founded("chained", "Chained")


def add(workspace: Workspace, *chains: str, **body: Any) -> None:
    with rows.within(workspace):
        for chain in chains:
            append(workspace.pk, chain, "call.proposed", body, by="agt_1")


def rename(workspace: Workspace) -> None:
    with rows.within(workspace):
        Workspace.objects.filter(pk=workspace.pk).update(name="Changed")
        append(workspace.pk, RUN, "workspace.renamed", {}, by=None)


def test_an_entry_names_who_what_when_and_where(northwind: Workspace) -> None:
    """AU-1, AU-4, AU-6: each member is in the hashed bytes; the time has microseconds and is the database's."""
    add(northwind, RUN, tool="refund")
    add(northwind, RUN, tool="mail")
    first, second = read(northwind.pk, RUN)
    assert (first["tool"], first["by"], first["kind"], first["seq"]) == ("refund", "agt_1", "call.proposed", 1)
    assert (second["seq"], second["chain"], second["workspace"]) == (2, RUN, northwind.pk.hex)
    entry = Entry.objects.get(seq=2)
    assert datetime.fromisoformat(second["at"]) == entry.at
    assert (entry.body, entry.prev) == (canonical.encode(second), Entry.objects.get(seq=1).hash)


def test_the_entries_are_the_last_statements_before_commit(
    northwind: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AU-3, CH-B150: what locks the chain locks it briefly, whatever was done after the call of append."""
    add(northwind, RUN)
    sent = Sent(monkeypatch)
    with connection.execute_wrapper(sent.through_django), rows.within(northwind):
        append(northwind.pk, RUN, "call.proposed", {}, by=None)
        append(northwind.pk, RUN, "call.held", {}, by=None)
        Workspace.objects.filter(pk=northwind.pk).update(name="Changed")
    touching = ["approvals_chain" in sql for sql in sent if "SAVEPOINT" not in sql]
    assert touching == [False, True, True]


def test_what_is_rolled_back_leaves_no_entry(northwind: Workspace) -> None:
    with transaction.atomic():
        add(northwind, RUN)
        transaction.set_rollback(True)
    assert not Chain.objects.filter(name=RUN).exists()


@pytest.mark.committed
def test_without_its_entry_nothing_happens(northwind: Workspace, committed_db: str) -> None:
    """AU-11: when the ledger cannot be written, the decision fails."""
    with SERVERS.postgres.connect(committed_db) as admin:
        admin.execute("REVOKE INSERT ON approvals_entry FROM placet")
    with pytest.raises(DatabaseError, match="permission denied"):
        rename(northwind)
    assert Workspace.objects.get(pk=northwind.pk).name == "Chained"


@pytest.mark.parametrize(
    ("body", "error"),
    [({"kind": "x"}, ValueError), ({"seq": 1, "at": 2}, ValueError), ({"a": {1, 2}}, canonical.Unrepresentable)],
)
def test_a_body_is_plain_json_and_cannot_speak_for_the_entry(northwind: Workspace, body: Any, error: Any) -> None:
    with rows.within(northwind), pytest.raises(error):
        append(northwind.pk, RUN, "call.proposed", body, by=None)


def test_an_entry_belongs_to_the_open_transaction(northwind: Workspace) -> None:
    other = founded("other", "Other")
    with pytest.raises(RuntimeError):
        append(northwind.pk, RUN, "call.proposed", {}, by=None)
    with rows.within(other), pytest.raises(RuntimeError):
        append(northwind.pk, RUN, "call.proposed", {}, by=None)


def test_text_of_agents_cannot_forge_a_line(northwind: Workspace) -> None:
    """AU-9: an entry is one line whatever it holds, in the table and in what is printed."""
    forged = 'ok"}\n{"seq": 99, "by": "per_1"}\u2028\u2029\x85\x1b[2K\r'
    add(northwind, RUN, reason=forged)
    (entry,) = read(northwind.pk, RUN)
    line = entries.line(entry)
    assert entry["reason"] == forged
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert line.isprintable()


@pytest.mark.committed
@pytest.mark.parametrize(
    "statement", ["UPDATE approvals_entry SET kind = 'x'", "DELETE FROM approvals_entry", "TRUNCATE approvals_entry"]
)
@pytest.mark.parametrize("role", ["placet", "placet_owner", "postgres"])
def test_nobody_changes_or_deletes_an_entry(northwind: Workspace, committed_db: str, statement: str, role: str) -> None:
    """AU-7: not the application, not the owner of the tables; the row count of the statement does not matter."""
    add(northwind, RUN)
    with SERVERS.postgres.connect(committed_db) as admin:
        admin.execute(f"SET ROLE {role}".encode())
        admin.execute("SELECT set_config('app.workspace', %s, false)", [str(northwind.pk)])
        with pytest.raises(Exception, match=r"permission denied|written once"):
            admin.execute(statement.encode())
    assert len(read(northwind.pk, RUN)) == 1


def test_nothing_cascades_into_the_ledger(db: None) -> None:
    """AU-7, CH-B156: no foreign key of the tables deletes or empties a row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT confdeltype FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY(%s::regclass[])",
            [["approvals_entry", "approvals_chain"]],
        )
        assert {str(kind) for (kind,) in cursor.fetchall()} == {"a"}


@pytest.mark.committed
def test_eighty_writers_at_once_make_one_chain(northwind: Workspace, together: Callable[..., list[Any]]) -> None:
    """AU-3, CH-B148, CH-B149: no fork, no gap, and times that rise with the numbers; the chain itself is new, too."""
    assert together(*[lambda number=number: add(northwind, RUN, number=number) for number in range(80)]) == [None] * 80
    written = read(northwind.pk, RUN)
    assert [entry["seq"] for entry in written] == list(range(1, 81))
    assert {entry["number"] for entry in written} == set(range(80))
    assert sorted(entry["at"] for entry in written) == [entry["at"] for entry in written]
    assert not any(verdict.findings for verdict in verify_workspace(northwind.pk))


@pytest.mark.committed
def test_writers_of_several_chains_never_wait_for_each_other_in_a_circle(
    northwind: Workspace, together: Callable[..., list[Any]]
) -> None:
    """AU-3: chains are locked in the order of their names, whatever the order of the calls."""
    for _ in range(20):
        assert (
            together(
                lambda: add(northwind, RUN, "workspace"),
                lambda: add(northwind, "workspace", RUN),
                lambda: add(northwind, "workspace", RUN, "run_b"),
            )
            == [None] * 3
        )
    assert len(read(northwind.pk, RUN)) == 60


@pytest.mark.committed
def test_a_fork_is_refused_by_the_table_itself(northwind: Workspace, committed_db: str) -> None:
    """AU-3: UNIQUE (chain, seq) and UNIQUE (chain, prev), should a writer ever not lock."""
    add(northwind, RUN)
    columns = "workspace_id, chain_id, kind, body, hash, mac, at"
    for seq, prev in (("seq", "hash"), ("seq + 1", "prev")):
        with SERVERS.postgres.connect(committed_db) as admin, pytest.raises(Exception, match="duplicate key"):
            admin.execute(
                f"INSERT INTO approvals_entry (id, {columns}, seq, prev)"
                f" SELECT gen_random_uuid(), {columns}, {seq}, {prev} FROM approvals_entry".encode()
            )
