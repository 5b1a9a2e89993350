"""A stop: nobody decides, nothing ends, and the time of it is given back to every deadline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from guardian.shortcuts import assign_perm

from approvals import approvals, expiry, gate, halts, people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.halts import Halt
from approvals.ledger import canonical, entries
from approvals.people import Team
from tests.cast import Cast, ask, refund, say
from tests.clock import set_forward

pytestmark = pytest.mark.usefixtures("heard")

Later = Callable[[int], None]


class Agent:
    """An agent as halts knows it: a thing with a name that people may operate."""

    def __init__(self, thing: Team, name: str) -> None:
        self.thing, self.name = thing, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.thing, name)


@pytest.fixture
def later(db: None) -> Later:
    """Let the clock of this transaction stand so many seconds ahead."""
    return set_forward


@pytest.fixture
def desk(cast: Cast) -> Any:
    with rows.within(cast.northwind):
        return Agent(Team.objects.create(workspace=cast.northwind, slug="refund-desk", name="desk"), "refund-desk")


def code(answer: Any) -> str:
    return answer.code if isinstance(answer, Refused) else ""


def cleared(approval: Approval, digest: str) -> str:
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def test_while_it_is_stopped_nobody_decides(cast: Cast) -> None:
    """HF-6: approvals freeze, and whoever tries hears who stopped them."""
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar, reason="A wrong exchange rate.")
    for verdict in ("approve", "reject", "edit"):
        answer = say(approval, cast.dana, verdict, message="No.", edited=refund(1) if verdict == "edit" else None)
        assert isinstance(answer, Refused) and answer.code == "halted" and "Omar Haddad stopped" in answer.message
    halts.end(cast.northwind, by=cast.omar)
    assert isinstance(say(approval, cast.dana, "approve"), Decided)


def test_a_deadline_stands_still_and_has_its_time_back(cast: Cast, later: Later) -> None:
    """HF-6, DS-3: what would have expired meanwhile has as long left as it had before."""
    approval = ask(cast, refund())
    later(1800)
    halts.begin(cast.northwind, by=cast.omar)
    later(1800 + 86_400)
    assert approvals.expire_due() == 0 and code(say(approval, cast.dana, "approve")) == "halted"
    halts.end(cast.northwind, by=cast.omar)
    approval.refresh_from_db()
    assert 86_400 <= approval.frozen_seconds <= 86_460 and approval.holds()
    later(1800 + 86_400 + 1700)
    assert approvals.expire_due() == 0
    later(1800 + 86_400 + 1900)
    assert approvals.expire_due() == 1


def test_what_is_asked_during_a_stop_gets_only_the_rest_of_it(cast: Cast, later: Later) -> None:
    halts.begin(cast.northwind, by=cast.omar)
    later(3000)
    approval = ask(cast, refund())
    later(3600)
    halts.end(cast.northwind, by=cast.omar)
    approval.refresh_from_db()
    assert 600 <= approval.frozen_seconds <= 660


def test_two_stops_at_once_freeze_once_and_until_the_last_of_them(cast: Cast, desk: Any, later: Later) -> None:
    """HF-6: the time that both cover is given back once."""
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar)
    later(1000)
    halts.begin(cast.northwind, desk, by=cast.omar)
    later(2000)
    halts.end(cast.northwind, by=cast.omar)
    approval.refresh_from_db()
    assert approval.frozen_seconds == 0 and code(say(approval, cast.dana, "approve")) == "halted"
    later(3000)
    halts.end(cast.northwind, desk, by=cast.omar)
    approval.refresh_from_db()
    assert 3000 <= approval.frozen_seconds <= 3060


def test_a_stop_of_an_agent_leaves_the_others_alone(cast: Cast, desk: Any) -> None:
    desk.name = "another-desk"
    halts.begin(cast.northwind, desk, by=cast.omar)
    assert isinstance(say(ask(cast, refund()), cast.dana, "approve"), Decided)


def test_only_who_may_operate_or_administer_stops_and_resumes(cast: Cast, desk: Any) -> None:
    """HF-6, AZ-1."""
    assert code(halts.begin(cast.northwind, by=cast.dana)) == "not_allowed"
    assert code(halts.begin(cast.northwind, desk, by=cast.dana)) == "not_allowed"
    assert isinstance(halts.begin(cast.northwind, by=cast.omar), Halt)
    assert code(halts.begin(cast.northwind, by=cast.omar)) == "halted_already"
    assert code(halts.end(cast.northwind, by=cast.dana)) == "not_allowed"
    assert isinstance(halts.end(cast.northwind, by=None), Halt)
    assert code(halts.end(cast.northwind, by=cast.omar)) == "not_halted"


def test_a_stop_is_in_the_ledger_and_its_reason_is_sealed(cast: Cast) -> None:
    """AU-8, HF-6."""
    halt = halts.begin(cast.northwind, by=cast.omar, reason="Ask Riley.")
    assert isinstance(halt, Halt) and halt.clear_reason() == "Ask Riley." and b"Riley" not in bytes(halt.reason)
    halts.end(cast.northwind, by=None)
    begun, ended = entries.read(cast.northwind.pk, "workspace")[-2:]
    assert (begun["kind"], begun["by"], begun["agent"]) == ("halt.begun", cast.omar.public_id, "")
    assert begun["reason_digest"] == canonical.sha256_hex(b"Ask Riley.")
    assert (ended["kind"], ended["by"], ended["halt"]) == ("halt.ended", "system", halt.public_id)


def approved(cast: Cast) -> tuple[Approval, str]:
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    return approval, approvals.current_revision(approval).digest


def test_what_was_approved_waits_and_is_no_older_for_it(cast: Cast, later: Later) -> None:
    """HF-6, DS-9: sent after a stop as if there had been none."""
    approval, digest = approved(cast)
    halts.begin(cast.northwind, by=cast.omar)
    assert cleared(approval, digest) == "halted"
    later(86_400)
    halts.end(cast.northwind, by=cast.omar)
    assert cleared(approval, digest) == "cleared"
    later(86_400 + 3700)
    assert cleared(approval, digest) == "expired"


def test_what_was_approved_can_still_be_stopped_for_good(cast: Cast) -> None:
    approval, _ = approved(cast)
    halts.begin(cast.northwind, by=cast.omar)
    assert isinstance(say(approval, cast.priya, "stop"), Decided)


@pytest.mark.parametrize("forgery", ["DELETE FROM approvals_halt", "UPDATE approvals_halt SET status = 'over'"])
def test_who_takes_a_stop_out_of_the_database_lets_nothing_run(cast: Cast, forgery: str) -> None:
    """HF-6, AU-4: clearance believes the ledger."""
    approval, digest = approved(cast)
    halts.begin(cast.northwind, by=cast.omar)
    with connection.cursor() as cursor:
        cursor.execute(forgery)
    assert not halts.on(cast.northwind.pk) and cleared(approval, digest) == "halted"


def test_who_writes_a_stop_into_the_database_moves_no_deadline(cast: Cast, later: Later) -> None:
    """HF-6, AU-4."""
    approval = ask(cast, refund())
    Halt.objects.create(workspace=cast.northwind, begun_at=rows.now() - timedelta(days=9))
    later(600)
    halts.end(cast.northwind, by=cast.omar)
    approval.refresh_from_db()
    assert approval.frozen_seconds == 0 and halts.since(cast.northwind.pk, "refund-desk") is None


def test_what_was_tampered_with_is_not_signed_anew(cast: Cast, later: Later) -> None:
    """SC-1."""
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar)
    Approval.objects.update(summary="Refund one cent")
    later(600)
    halts.end(cast.northwind, by=cast.omar)
    approval.refresh_from_db()
    assert approval.frozen_seconds == 0 and not approval.holds()


def test_a_stop_of_another_workspace_is_none_of_ours(cast: Cast) -> None:
    """HF-6."""
    people.grant(cast.oskar, "administer", cast.halden, by="system")
    approval = ask(cast, refund())
    with rows.nowhere():
        assert isinstance(halts.begin(cast.halden, by=cast.oskar), Halt)
        assert code(halts.begin(cast.northwind, by=cast.oskar)) == "not_allowed"
    assert isinstance(say(approval, cast.dana, "approve"), Decided)


def test_the_verifier_names_stops_that_the_ledger_does_not_tell(cast: Cast) -> None:
    """AU-4, HF-6: written past Placet, or taken away past it."""
    halts.begin(cast.northwind, by=cast.omar)
    assert halts.unexplained(cast.northwind.pk) == []
    Halt.objects.update(agent="refund-desk")
    assert len(halts.unexplained(cast.northwind.pk)) == 2


def test_a_change_of_the_workspace_is_not_frozen(cast: Cast) -> None:
    """A new policy may be what ends the trouble."""
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar)
    open_now, decidable = expiry.still_open(rows.Now()), expiry.decidable(rows.Now())
    Approval.objects.filter(pk=approval.pk).update(kind="change")
    approval.refresh_from_db()
    assert halts.of(approval) is None
    assert Approval.objects.filter(open_now).exists() and Approval.objects.filter(decidable).exists()


def test_a_right_written_past_placet_lets_no_stop_end(cast: Cast) -> None:
    """AZ-4, HF-6: clearance believes the ledger, and the ledger would say that somebody ended it who may."""
    assert isinstance(halts.begin(cast.northwind, None, by=cast.omar), Halt)
    assign_perm("administer", cast.riley, cast.northwind)
    assert code(halts.end(cast.northwind, None, by=cast.riley)) == "not_allowed"
    assert isinstance(halts.end(cast.northwind, None, by=cast.omar), Halt)
