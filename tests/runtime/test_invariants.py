"""The invariants: true of what the machine does, and each named when somebody makes it untrue."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from runtime import invariants, runs
from runtime.runs import Run
from runtime.stack import BASE
from tests.runtime.conftest import Desk, call
from tests.runtime.test_checkpoints import tamper
from tests.throwaway import SERVERS

OFFENCES = {
    "votes": [
        "DELETE FROM approvals_decision",
        "UPDATE approvals_approval SET required = 2",
        "UPDATE approvals_approval SET status = 'approved', subject = (SELECT min(subject) FROM approvals_approval)",
    ],
    "sent_as_decided": [
        "UPDATE runtime_attempt SET args_digest = 'x'",
        "UPDATE approvals_approval SET status = 'rejected'",
        "UPDATE approvals_ruling SET verdict = 'deny'",
    ],
    "one_effect": [
        "UPDATE runtime_attempt SET outcome = 'lost'",
        "UPDATE runtime_attempt SET number = number + 1",
        """INSERT INTO runtime_attempt SELECT (jsonb_populate_record(t, '{"number": 2}'
            || jsonb_build_object('id', gen_random_uuid()))).* FROM runtime_attempt t""",
    ],
    "nothing_unasked": [
        "UPDATE runtime_call SET status = 'held' WHERE status = 'executed'",
        "UPDATE runtime_call SET status = 'cancelled' WHERE status = 'executed'",
    ],
    "one_history": [
        "DELETE FROM runtime_checkpoint WHERE seq = 2",
        "UPDATE runtime_checkpoint SET prev_mac = 'x' WHERE seq = 2",
        "UPDATE runtime_run SET head_seq = head_seq - 1",
        "UPDATE runtime_run SET head_mac = 'x'",
    ],
    "fences": [
        "UPDATE runtime_run SET fence = 0",
        "UPDATE runtime_checkpoint SET fence = 9 WHERE seq = 2",
        "UPDATE runtime_attempt SET fence = 9",
    ],
    "budgets": [
        "UPDATE runtime_budget SET tokens_held = 7",
        "UPDATE runtime_hold SET tokens_spent = 9",
        "UPDATE runtime_hold SET status = 'held'",
    ],
    "own_decisions": ["UPDATE approvals_approval SET chain = 'run_' || repeat('0', 32)"],
    "no_lost_wake": [
        "UPDATE approvals_approval SET status = 'expired' WHERE status = 'pending'",
        "UPDATE runtime_run SET status = 'cancelled' WHERE status = 'suspended_approval'",
        "UPDATE runtime_run SET status = 'ready', wake_at = NULL",
        "UPDATE runtime_run SET status = 'in_progress', lease_until = NULL",
    ],
    "every_call_ends": [
        "UPDATE runtime_call SET consumed_seq = NULL WHERE status = 'executed'",
        "UPDATE runtime_call SET consumed_seq = 1 WHERE status = 'held'",
        "UPDATE runtime_run SET status = 'cancelled'",
        "UPDATE runtime_run SET status = 'completed'",
    ],
    "nothing_left_over": ["DELETE FROM runtime_run", "DELETE FROM runtime_call"],
    "one_ledger": [
        "DELETE FROM approvals_entry WHERE seq = 2",
        "UPDATE approvals_entry SET prev = 'x' WHERE seq = 2",
        "UPDATE approvals_chain SET seq = seq + 1",
        "DELETE FROM approvals_entry e USING approvals_chain c WHERE c.id = e.chain_id AND e.seq = c.seq",
    ],
    "one_workspace": [
        f"UPDATE {table} SET workspace_id = gen_random_uuid()"
        for table in ("runtime_checkpoint", "runtime_call", "runtime_attempt", "approvals_approval")
    ],
}


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A run that ended after a yes, one that ended by itself, one that waits, one that was cancelled."""
    asked = desk.begin([call("asked.unsafe", 1)])
    desk.say(desk.calls(asked)[0], desk.cast.dana, "approve")
    desk.work(asked)
    desk.begin([call("free.unsafe", 2), call("free.keyed", 3)], budget={"tokens": 100})
    desk.begin([call("asked.keyed", 4), call("free.pure", 5)])
    withdrawn = desk.begin([call("asked.keyed", 6)])
    runs.cancel(withdrawn, by=desk.cast.omar.public_id, reason="No.")
    desk.work(withdrawn)
    return desk


def test_they_hold_of_what_the_machine_does(lived: Desk) -> None:
    """DU-L9, DU-L40: four runs in four states."""
    assert set(Run.objects.values_list("status", flat=True)) == {"completed", "suspended_approval", "cancelled"}
    assert invariants.offenders() == list(invariants.unreadable()) == []
    assert [invariants.offenders(name) for name in invariants.INVARIANTS] == [[]] * len(OFFENCES)


def test_each_is_named_when_somebody_makes_it_untrue(lived: Desk) -> None:
    assert list(OFFENCES) == list(invariants.INVARIANTS)
    unseen = [(name, sql) for name, offences in OFFENCES.items() for sql in offences if name not in seen_after(sql)]
    assert unseen == []


def test_the_page_lists_them_as_the_code_does() -> None:
    page = (BASE / "docs" / "invariants.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE)
    assert listed == [(each.name, each.says) for each in invariants.INVARIANTS.values()]


def seen_after(sql: str) -> set[str]:
    """The invariants that offend after somebody changed the database, and before that is undone."""
    with SERVERS.postgres.connect(str(connection.settings_dict["NAME"])) as admin:
        for each in (b"SET session_replication_role = replica", b"BEGIN", sql.encode()):
            admin.execute(each)
        found = {row[0] for row in admin.execute(invariants.query().encode()).fetchall()}
        admin.execute(b"ROLLBACK")
    return found


def test_a_state_that_cannot_be_read_is_named_too(lived: Desk) -> None:
    tamper("UPDATE runtime_checkpoint SET body = '\\x00' WHERE seq = 2")
    assert {each.invariant for each in invariants.unreadable()} == {"state"} and invariants.offenders() == []


def test_an_operator_asks_them_all(lived: Desk) -> None:
    out = StringIO()
    call_command("invariants", "--state", stdout=out)
    assert out.getvalue() == f"{len(invariants.INVARIANTS)} invariants hold.\n"


def test_an_operator_is_told_what_offends(lived: Desk) -> None:
    tamper("UPDATE runtime_run SET wake_at = NULL, status = 'ready' WHERE status = 'suspended_approval'")
    out, [run] = StringIO(), Run.objects.filter(status="ready")
    with pytest.raises(CommandError, match="1 offend against 1 invariants"):
        call_command("invariants", stdout=out)
    assert out.getvalue() == f"no_lost_wake: {run.public_id} is ready, and nothing says when it goes on\n"
