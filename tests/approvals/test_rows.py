"""The ground: keys, scope, moves and the clock."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import ProgrammingError, connection

from approvals import rows
from approvals.approvals import Approval
from approvals.decisions import Decision
from approvals.policies import Policy
from approvals.revisions import Revision
from approvals.rulings import Ruling
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper
from tests.throwaway import SERVERS

pytestmark = pytest.mark.usefixtures("heard")


def test_a_key_is_a_uuid_of_version_seven() -> None:
    key = rows.uuid7()
    assert (key.version, key.variant) == (7, "specified in RFC 4122")
    assert len({rows.uuid7() for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "apr_",
        "apr_" + "G" * 32,
        "run_" + "0" * 32,
        "apr_" + "0" * 31,
        "apr_" + "A" * 32,
        "apr-" + "0" * 32,
        "apr_" + "٠" * 32,
    ],
)
def test_only_an_exact_public_id_is_read(text: str) -> None:
    assert rows.parse_id("apr", text) is None


def test_a_public_id_reads_back() -> None:
    key = rows.uuid7()
    assert rows.parse_id("apr", rows.public_id("apr", key)) == key


def test_a_move_that_the_table_does_not_list_is_refused(cast: Cast) -> None:
    """DS-2, DS-6: a final status has no way back."""
    approval = ask(cast, refund())
    with pytest.raises(ValueError, match="never moves from rejected to pending"):
        rows.move(Approval, approval.pk, frm="rejected", to="pending")


def test_a_transaction_never_touches_two_workspaces(cast: Cast) -> None:
    with rows.within(cast.northwind), pytest.raises(RuntimeError), rows.within(cast.halden):
        pass


def test_hooks_run_last_in_the_order_of_their_keys(cast: Cast) -> None:
    ran: list[str] = []
    with rows.within(cast.northwind):
        for key in ("b", "a", "b"):
            rows.before_commit(key, lambda key=key: ran.append(key))  # type: ignore[misc]
        ran.append("body")
    assert ran == ["body", "a", "b"]


def test_a_child_and_its_parent_share_a_workspace(cast: Cast) -> None:
    """CH-B114: the database itself refuses a row that reaches across tenants."""
    approval = ask(cast, refund())
    revision = Revision.objects.get()
    assert revision.workspace_id == approval.workspace_id
    sql = "UPDATE approvals_approval SET workspace_id = %s"
    with pytest.raises(ProgrammingError, match="row-level security"), connection.cursor() as cursor:
        cursor.execute(sql, [cast.halden.pk])


@pytest.mark.committed
def test_a_child_and_its_parent_share_a_workspace_whoever_writes(cast: Cast, committed_db: str) -> None:
    """CH-B114: the composite keys hold where row-level security binds nobody."""
    ask(cast, refund())
    with SERVERS.postgres.connect(committed_db) as admin, pytest.raises(psycopg.errors.ForeignKeyViolation):
        admin.execute("UPDATE approvals_approval SET workspace_id = %s", [cast.halden.pk])


@pytest.mark.parametrize("model", [Policy, Ruling, Revision, Decision])
@pytest.mark.parametrize("change", ["UPDATE {} SET created_at = created_at", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_what_is_written_once_is_neither_changed_nor_deleted(cast: Cast, model: type[rows.Row], change: str) -> None:
    """AU-7: the application's role has no right to, whatever the code does."""
    say(ask(cast, refund()), cast.dana, "approve")
    with pytest.raises(ProgrammingError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute(change.format(model._meta.db_table))


@pytest.mark.committed
def test_no_setting_tells_the_database_another_time(tamper: Tamper) -> None:
    """AU-5, T31: neither of the session nor of the database, where a rule, a freeze and a deadline go by it. The clock
    that tests may set forward is theirs alone."""
    tamper(import_module("approvals.migrations.0025_clock").CLOCK)
    before = rows.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('placet.clock_offset', '3600', false)")
        assert (rows.now() - before).total_seconds() < 60
        cursor.execute("SELECT set_config('placet.clock_offset', '0', false)")


def test_statements_that_lock_read_the_clock_again() -> None:
    """Written bare where a statement may wait for a lock; as a sub-query where due rows are looked up by their
    index."""
    code = "\n".join(path.read_text() for path in Path("approvals").glob("*.py"))
    assert "decidable(rows.Now())" in code
    assert "overdue(rows.NowOnce())).order_by" in code
    assert str(rows.Now.template) == "placet_now()"


def test_a_row_names_itself(cast: Cast) -> None:
    approval = ask(cast, refund())
    assert approval.public_id == f"apr_{approval.pk.hex}"
    assert isinstance(approval.pk, UUID)


def test_news_that_cannot_be_sent_stop_no_other_hook(
    cast: Cast, settings: Any, django_capture_on_commit_callbacks: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """AP-U16: with the broker away a decision was committed, answered with an error, and its run not hinted."""
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    called: list[int] = []
    with django_capture_on_commit_callbacks(execute=True), rows.within(cast.northwind):
        rows.publish(cast.northwind.pk, "apr_1")
        rows.after_commit(called.append, 1)
    assert called == [1] and "on_commit" in caplog.text
