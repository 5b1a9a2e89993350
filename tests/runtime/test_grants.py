"""A run whose calls a standing grant covers: nobody is asked, and everything is checked before each sending."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import granting, grants, policies
from approvals.approvals import Approval
from approvals.grants import Grant
from approvals.ledger import verify
from runtime import definitions, invariants
from runtime.narrative import Narrative
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out

STANDING = POLICY.replace("deadline: 1h", "deadline: 1h\n    standing: {for: 1h, uses: 2}")
FROZEN = "freezes: {audit: {from: '2020-01-01T00:00:00Z', until: '2120-01-01T00:00:00Z'}}\nrules:"


@pytest.fixture
def grant(desk: Desk) -> Grant:
    """Given by Dana after a call that she approved."""
    policies.load(desk.cast.northwind, STANDING, by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    desk.work(run)
    asked = granting.ask(run.workspace_id, Approval.objects.get(), granting.Wish(), by=desk.cast.dana)
    assert isinstance(asked, Approval)
    casting.say(asked, desk.cast.dana, "approve")
    return Grant.objects.get()


def sent() -> list[int]:
    return [line["args"]["n"] for line in tooling.happened("done")]


def waiting(desk: Desk) -> Run:
    """A run whose call a grant let through, and that a freeze keeps from being sent."""
    frozen = STANDING.replace("rules:", FROZEN).replace("standing:", "freeze: [audit]\n    standing:")
    policies.load(desk.cast.northwind, frozen, by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    assert run.status == "sleeping" and desk.calls(run)[0].status == "cleared"
    policies.load(desk.cast.northwind, STANDING, by="system")
    return run


def findings(desk: Desk) -> list[Any]:
    return [each for one in verify.verify_workspace(desk.cast.northwind.pk) for each in one.findings]


def test_its_calls_go_until_it_is_used_up(desk: Desk, grant: Grant) -> None:
    """AZ-15: two calls go without a question; people are asked about the third."""
    run = desk.begin([call("asked.unsafe", 7), call("asked.unsafe", 7)], [call("asked.unsafe", 7)])
    assert run.status == "suspended_approval" and sent() == [7, 7, 7]
    assert [one.status for one in desk.calls(run)] == ["executed", "executed", "held"]
    assert not list(invariants.offenders()) and not findings(desk)


def test_what_was_said_of_a_call_itself_counts_before_a_grant(desk: Desk) -> None:
    """DU-L29: a no stays a no, and who was asked is still to answer, though others of its kind go now."""
    policies.load(desk.cast.northwind, STANDING, by="system")
    run = desk.begin([call("asked.unsafe", 7), call("asked.unsafe", 7), call("asked.unsafe", 7)])
    first, refused, waiting = desk.calls(run)
    desk.say(first, desk.cast.dana, "approve")
    desk.say(refused, desk.cast.dana, "reject", message="Not this one.")
    desk.work(run)
    asked = granting.ask(
        run.workspace_id, Approval.objects.get(subject=first.public_id), granting.Wish(), by=desk.cast.dana
    )
    assert isinstance(asked, Approval)
    casting.say(asked, desk.cast.dana, "approve")
    assert desk.work(run).status == "suspended_approval" and sent() == [7]
    assert desk.begin([call("asked.unsafe", 7)]).status == "completed" and sent() == [7, 7]
    desk.say(waiting, desk.cast.dana, "reject", message="Nor this one.")
    assert desk.work(run).status == "completed" and sent() == [7, 7]
    assert [each["status"] for each in desk.results(run)] == ["executed", "refused", "refused"]


def test_a_call_that_waits_is_asked_about_when_the_grant_is_ended(desk: Desk, grant: Grant) -> None:
    run = waiting(desk)
    grants.end(grant, by="system")
    desk.wait_out(run)
    assert run.status == "suspended_approval" and sent() == [7]


def test_a_call_that_waits_is_not_sent_to_another_version_of_its_tool(desk: Desk, grant: Grant) -> None:
    """BD-6: the grant is over, and so is what it let through."""
    run = waiting(desk)
    known = definitions.tool_named(run.workspace_id, "asked.unsafe")
    assert known is not None
    more = {"kind": "function", "config": known.config, "effect": "unsafe"}
    definitions.register_tool(run.workspace_id, known.document | {"description": "Other."}, by="system", **more)
    desk.wait_out(run)
    assert sent() == [7] and desk.begin([call("asked.unsafe", 7)]).status == "suspended_approval"


@pytest.mark.parametrize("point", ["intent.before", "intent.after"])
def test_a_worker_that_dies_uses_it_once(desk: Desk, grant: Grant, point: str) -> None:
    """AP-D1, DS-9: the use stands with the step that was committed."""
    run = desk.start([call("asked.unsafe", 7)])
    assert work_and_die(run, point)
    let_it_run_out(run)
    desk.wait_out(run)
    assert grant.uses.count() == 1 and len(sent()) <= 2 and not findings(desk)


def test_the_page_of_the_run_names_the_grant(desk: Desk, grant: Grant) -> None:
    """AZ-15: whoever reads the run sees what let the call through."""
    run = desk.begin([call("asked.unsafe", 7)])
    [use] = Narrative(run, with_state=False).uses.values()
    assert use.how == f"allowed by rule asked and standing grant {grant.public_id}"
