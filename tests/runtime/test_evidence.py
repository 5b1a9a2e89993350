"""`ledger verify` looks at the machine's rows too, and the anchors hold the runs' heads."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.approvals import Approval
from approvals.ledger import anchors, sealing, verify
from approvals.ledger.sealing import DataKey
from runtime import budgets, checkpoints, credentials, evidence, invariants, retention, runs, sweeps
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import growing
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out
from tests.tampering import Tamper


@pytest.fixture
def ended(desk: Desk) -> Run:
    run = desk.work(desk.start([call("free.pure", 1)], [call("free.pure", 2)], budget={"tokens": 1000}))
    assert run.status == "completed" and found(desk) == []
    return run


def found(desk: Desk) -> list[str]:
    return list(evidence.unproven(desk.cast.northwind.pk))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE runtime_checkpoint SET goto = 'elsewhere' WHERE seq = 2", "Checkpoint 2 is not as it was written"),
        ("DELETE FROM runtime_checkpoint WHERE seq = 2", "Checkpoint 2 is missing"),
        ("UPDATE runtime_checkpoint SET body = set_byte(body, 20, 7) WHERE seq = 2", "Checkpoint 2 cannot be unsealed"),
        ("UPDATE runtime_run SET head_seq = 2", "The run's head is checkpoint 2"),
        ("UPDATE runtime_tool SET config = '{\"url\": \"http://evil\"}' WHERE name = 'free.pure'", "tool free.pure"),
        ("UPDATE runtime_tool SET definition = '{}' WHERE name = 'free.pure'", "tool free.pure, version 1, is not"),
        ("UPDATE runtime_tool SET title = 'News' WHERE name = 'free.pure'", "tool free.pure, version 1, is not"),
        ("UPDATE runtime_agentversion SET definition = '{\"a\":1}'", "version 1 of agent"),
        ("UPDATE runtime_run SET requester_id = NULL", "asks for nobody, and by the ledger for per_"),
        ("UPDATE runtime_run SET agent_id = gen_random_uuid()", "and by the ledger of agt_"),
        (
            "WITH other AS (INSERT INTO runtime_agentversion"
            " (id, workspace_id, agent_id, kind, number, definition, digest, mac)"
            " SELECT gen_random_uuid(), workspace_id, agent_id, kind, 9, definition, digest, mac"
            " FROM runtime_agentversion RETURNING id) UPDATE runtime_run SET version_id = (SELECT id FROM other)",
            "runs version 9, and by the ledger version 1",
        ),
        ("UPDATE runtime_run SET status = 'ready', ended_at = NULL", "and by its last checkpoint it is over"),
        ("UPDATE runtime_budget SET tokens_cap = 9999999", "the caps of run_"),
        ("UPDATE runtime_budget SET tokens_cap = NULL", "the caps of run_"),
        ("UPDATE runtime_run SET budget_id = NULL", "does not draw on its own budget"),
        ("UPDATE runtime_run SET budget_id = gen_random_uuid()", "does not draw on its own budget"),
        ("UPDATE runtime_budget SET steps_used = steps_used - 1", "less is used of the budget of run_"),
        (
            "UPDATE runtime_call SET estimate = '{\"tokens\": 1}'",
            "is said to spend {'tokens': 1}, and by its checkpoint {}",
        ),
        ("DELETE FROM approvals_entry WHERE kind = 'run.started'", "no entry started run_"),
        ("UPDATE runtime_agent SET version = 0", "agent scripted: version 0 is in force"),
    ],
)
def test_a_row_written_past_placet_is_named(
    desk: Desk, ended: Run, tamper: Tamper, statement: str, sentence: str
) -> None:
    """DU-S12, T31, T18, T37."""
    tamper(statement)
    assert any(sentence in text for text in found(desk)), found(desk)


@pytest.mark.parametrize(
    ("tool", "to", "sentence"),
    [
        ("free.keyed", "cancelled", "is cancelled, and by the ledger it was sent and nothing is known of it."),
        ("free.keyed", "refused", "is refused, and by the ledger it was sent and nothing is known of it."),
        ("free.unsafe", "cancelled", "is cancelled, and by the ledger unknown."),
    ],
)
def test_a_call_that_was_sent_is_not_made_one_that_was_not(
    desk: Desk, tamper: Tamper, tool: str, to: str, sentence: str
) -> None:
    """T31, DU-S9: what may have had an effect says so, whatever its row says."""
    run = desk.start([call(tool, 7)])
    assert work_and_die(run, "send.after")
    if tool == "free.unsafe":
        let_it_run_out(run)
        desk.wait_out(run)
    [sent] = desk.calls(run)
    assert found(desk) == []
    tamper("UPDATE runtime_call SET status = %s", to)
    assert found(desk) == [f"{sent.public_id} {sentence}"]


def test_more_than_can_be_counted_is_no_fault(desk: Desk) -> None:
    """What is used stops counting where a cap ends."""
    most = {"usage": {"tokens": budgets.MOST}}
    run = growing.grow(desk, most, most, {"usage": {"money": budgets.MOST}}, {}, budget={"steps": 9})
    assert run.status == "completed" and found(desk) == [] and invariants.offenders() == []


def test_what_an_agent_spent_itself_cannot_be_forgotten(desk: Desk, tamper: Tamper) -> None:
    """T31: it stands in the headers of its steps."""
    run = growing.grow(desk, {"usage": {"tokens": 60}}, {"usage": {"tokens": 60}}, {}, {}, budget={"tokens": 100})
    assert run.status == "suspended_approval" and found(desk) == []
    tamper("UPDATE runtime_budget SET tokens_used = 100")
    assert found(desk) == [f"less is used of the budget of {run.public_id} than was spent."]


def test_a_run_that_was_ended_and_goes_on_is_named(desk: Desk, tamper: Tamper) -> None:
    """T31: nobody let it go on. An operator who does so leaves an entry."""
    failed = desk.begin([call("free.pure", 1)], budget={"steps": 0})
    casting.say(Approval.objects.get(), desk.cast.omar, "reject", message="No.")
    cancelled = desk.begin([call("asked.pure", 1)])
    assert runs.cancel(cancelled, by="system", reason="Enough.")
    assert (desk.work(failed).status, desk.work(cancelled).status) == ("failed", "cancelled") and found(desk) == []
    tamper("UPDATE runtime_run SET status = 'ready', wake_at = now()")
    told = {failed.public_id: "failed", cancelled.public_id: "cancelled"}
    assert found(desk) == [f"{name} is ready, and by the ledger {was}." for name, was in told.items()]


def test_a_credential_that_was_changed_is_named(desk: Desk, tamper: Tamper) -> None:
    """T31: whose it is, until when."""
    credential, _ = credentials.create(desk.agent, by="system")
    tamper("UPDATE runtime_agentcredential SET expires_at = now() + interval '9 years'")
    assert found(desk) == [f"credential {credential.public_id} ({credential}) is not as it was written."]


def test_a_tool_put_back_to_an_older_version_is_named(desk: Desk, tamper: Tamper) -> None:
    """T18: both versions are signed; the ledger says which came last."""
    from runtime import definitions, tools

    known = next(each for each in tools.registered() if each.path.endswith("free.pure"))
    changed = {**known.definition, "description": "Another."}
    where = {"function": known.path}
    definitions.register_tool(
        desk.cast.northwind.pk, changed, kind="function", config=where, effect="pure", by="system"
    )
    assert found(desk) == []
    for version, active in ((2, False), (1, True)):
        tamper("UPDATE runtime_tool SET is_active = %s WHERE name = 'free.pure' AND version = %s", active, version)
    assert found(desk) == ["tool free.pure: version 1 is in force, and no entry put it there last."]


def test_a_run_cut_back_with_its_head_shows_at_the_anchor(desk: Desk, ended: Run, tamper: Tamper) -> None:
    """AU-5, IN-A4: the chain verifies, and is shorter than it was."""
    assert anchors.anchor() == 1
    tamper("DELETE FROM runtime_checkpoint WHERE seq > 2")
    tamper(
        "UPDATE runtime_run r SET head_seq = 2, head_mac = c.mac"
        " FROM runtime_checkpoint c WHERE c.run_id = r.id AND c.seq = 2"
    )
    assert found(desk) == []
    said = list(anchors.differences(desk.cast.northwind.pk))
    assert said == [
        f"steps {ended.public_id}: it was anchored at {ended.head_seq} and stands at 2: its tail was cut off."
    ]


def test_an_anchored_run_goes_on_without_a_difference(desk: Desk) -> None:
    """AU-5: the anchored checkpoint is one in the middle by then."""
    run = desk.begin([call("asked.keyed")])
    anchors.anchor()
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed"
    assert list(anchors.differences(desk.cast.northwind.pk)) == []


def test_a_run_that_was_erased_differs_in_nothing(desk: Desk) -> None:
    """AU-8: what it held is emptied, what was signed stands."""
    run = desk.begin([call("asked.keyed")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve", message="A word.")
    assert desk.work(run).status == "completed"
    anchors.anchor()
    retention.erase(run, by="system")
    verdicts = list(verify.verify_workspace(desk.cast.northwind.pk))
    assert [finding for each in verdicts for finding in each.findings] == []


def test_a_body_that_was_emptied_is_named_where_no_entry_says_so(desk: Desk, ended: Run, tamper: Tamper) -> None:
    """AU-8, T31: up to where a run was pruned it is right, and in one that was erased."""
    retention.prune(ended, by="system", keep=2)
    assert found(desk) == [] and Checkpoint.objects.filter(run=ended, body=b"").count() == ended.head_seq - 2
    tamper("UPDATE runtime_checkpoint SET body = '' WHERE seq = %s", ended.head_seq)
    assert found(desk) == [f"{ended.public_id}: Checkpoint {ended.head_seq} is empty, and no entry says so."]
    retention.erase(ended, by="system")
    assert found(desk) == []


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE runtime_attempt SET answer = ''", "is not the one of its result"),
        ("UPDATE runtime_call SET attempt_id = NULL WHERE status = 'executed'", "has 1 attempts, and by the ledger 1"),
    ],
)
def test_an_answer_that_was_taken_is_named_and_told_to_no_agent(
    desk: Desk, tamper: Tamper, statement: str, sentence: str
) -> None:
    """IN-A4, T31: executed without a value is not what the tool said."""
    run = desk.begin([call("free.keyed", 21), call("asked.keyed", 2)])
    first, second = desk.calls(run)
    assert first.status == "executed" and found(desk) == []
    tamper(statement)
    assert any(sentence in text for text in found(desk)), found(desk)
    desk.say(second, desk.cast.dana, "approve")
    assert desk.work(run).status == "parked" and f"The answer to {first.public_id} is not" in run.reason


def test_the_sweep_anchors_and_says_so_where_it_cannot(
    desk: Desk, ended: Run, settings: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """AU-5."""
    sweeps.anchor()
    assert anchors.book().number == 1 and len(anchors.book().heads) == 4
    settings.PLACET_ANCHORS = tmp_path
    sweeps.anchor()
    assert "The heads are not anchored" in caplog.text


def test_bodies_sealed_anew_leave_the_chain_as_it_is(desk: Desk, ended: Run, tamper: Tamper) -> None:
    """SC-2: the chain covers the clear bytes and not the key they are sealed with."""
    workspace_id = desk.cast.northwind.pk
    before = checkpoints.rehydrate(ended.pk, head_seq=ended.head_seq, head_mac=bytes(ended.head_mac))
    sealing.forget()
    number = sealing._make(workspace_id, 2)
    for each in Checkpoint.objects.filter(run=ended):
        place = checkpoints._place(each)
        sealed = sealing.seal(workspace_id, sealing.unseal(workspace_id, bytes(each.body), place=place), place=place)
        assert int.from_bytes(sealed[1:3], "big") == number
        tamper("UPDATE runtime_checkpoint SET body = %s WHERE id = %s", sealed, each.pk)
    assert DataKey.objects.filter(workspace_id=workspace_id).count() == 2
    assert checkpoints.rehydrate(ended.pk, head_seq=ended.head_seq, head_mac=bytes(ended.head_mac)) == before
    assert [finding for each in verify.verify_workspace(workspace_id) for finding in each.findings] == []
