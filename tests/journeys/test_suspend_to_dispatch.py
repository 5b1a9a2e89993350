"""One approval, from the agent's wish to the payments service: read this first.

Six files take part, in this order: `runtime/loop.py`, `approvals/gate.py`, `approvals/approvals.py`,
`approvals/decisions.py`, `runtime/tasks.py`, `runtime/dispatch.py`. The loop goes by turns
(`runtime/turns.py`), the gate is a list of names (`judgements.py` beside it judges and holds), and `questions.py` opens
the approval. The six tests below have their names and follow one refund through them: the refund desk wants to pay back
€420.00, policy asks for one of Finance, Dana lowers it to €300.00, and that is what the service is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from approvals import approvals, decisions, gate
from approvals.approvals import Approval
from approvals.ledger import canonical, entries
from runtime import definitions, loop, runs, tasks, timeline
from runtime.calls import Attempt, Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.cast import REFUND_SCHEMA, Cast, assemble, refund, say
from tests.runtime.endpoints import Endpoint, serving


@dataclass
class Story:
    """The cast, the payments service, and the run of the refund."""

    cast: Cast
    service: Endpoint
    run: Run

    @property
    def call(self) -> Call:
        return Call.objects.get(run=self.run)

    @property
    def approval(self) -> Approval:
        return Approval.objects.get(subject=self.call.public_id)

    def fresh(self) -> Run:
        self.run.refresh_from_db()
        return self.run


@pytest.fixture
def story(committed_db: str, settings: Any) -> Iterator[Story]:
    cast = assemble()
    with serving() as service:
        settings.PLACET_ALLOW_ADDRESSES = {service.address}
        definitions.register_tool(
            cast.northwind.pk,
            {"name": "payments.create_refund", "title": "Create a refund", "inputSchema": REFUND_SCHEMA},
            kind="http",
            config={"url": f"{service.url}/refunds"},
            effect="keyed",
            summary="Refund {/amount|money:/currency} for {/charge}",
            by="system",
        )
        agent = definitions.register_agent(cast.northwind.pk, "refund-desk", "scripted", {}, by="system")
        wish = {"tool": "payments.create_refund", "args": refund(42_000), "reason": "Two pallets arrived wet."}
        run = runs.start(
            cast.northwind.pk,
            agent,
            input={"steps": [[wish]]},
            title="Ticket 4471",
            by=cast.riley.public_id,
            requester_id=cast.riley.pk,
        )
        yield Story(cast, service, run)


def suspended(story: Story) -> Story:
    assert loop.advance(story.run.pk)
    return story


def approved(story: Story) -> Story:
    answer = say(suspended(story).approval, story.cast.dana, "edit", edited=refund(30_000))
    assert isinstance(answer, decisions.Decided) and answer.status == "approved"
    return story


def test_1_loop_asks_the_agent_and_commits_its_step(story: Story) -> None:
    """`loop`: a worker claims the run; the step, its call and what became of the run are one commit."""
    suspended(story)
    assert [each.kind for each in Checkpoint.objects.filter(run=story.run).order_by("seq")] == ["input", "step"]
    assert (story.call.status, story.call.idx, story.service.got) == ("held", 0, [])
    assert (story.fresh().status, story.run.lease_owner) == ("suspended_approval", "")


def test_2_gate_judges_before_and_holds_inside_the_commit(story: Story) -> None:
    """`gate`: policy's ruling is a row that hashes to the digest, and its entry names the checkpoint."""
    call = suspended(story).call
    kinds = [entry["kind"] for entry in entries.read(story.run.workspace_id, story.run.public_id)]
    assert kinds == ["run.started", "approval.opened"]
    opened = entries.read(story.run.workspace_id, story.run.public_id)[1]
    assert opened["checkpoint_mac"] == bytes(Checkpoint.objects.get(run=story.run, seq=call.step).mac).hex()
    assert isinstance(gate.clearance(call.workspace_id, call.public_id, opened["digest"]), gate.NotCleared)


def test_3_approvals_ask_people_about_exactly_these_bytes(story: Story) -> None:
    """`approvals`: the question, its first revision, and what the agent said beside it."""
    approval = suspended(story).approval
    first = approvals.current_revision(approval)
    assert approvals.args_of(first) == canonical.encode(refund(42_000))
    assert approvals.context_of(approval)["reason"] == "Two pallets arrived wet."
    assert (approval.status, approval.required, approval.teams) == ("pending", 1, ["finance"])


def test_4_decisions_take_one_verdict_and_wake_the_run_by_the_same_commit(story: Story) -> None:
    """`decisions`: Dana's edit is a new revision and her vote for it; Priya comes too late and is told so."""
    approved(story)
    late = say(story.approval, story.cast.priya, "approve")
    assert isinstance(late, decisions.Refused) and late.code == "too_late" and "Dana" in late.message
    assert (story.call.status, story.call.digest) == ("cleared", approvals.current_revision(story.approval).digest)
    assert story.fresh().status == "ready" and story.service.got == []


def test_5_tasks_are_told_an_id_and_go_on_from_the_last_commit(story: Story) -> None:
    """`tasks`: told three times, it works once; nothing but the rows is needed."""
    approved(story)
    for _ in range(3):
        tasks.advance_run(story.run.pk.hex, story.run.workspace_id.hex)
    assert story.fresh().status == "completed" and len(story.service.got) == 1


def test_6_dispatch_sends_the_approved_bytes_once_and_records_what_came_of_it(story: Story) -> None:
    """`dispatch`: the body is the bytes that Dana approved, everything else is a header; the outcome is on the
    approval."""
    loop.advance(approved(story).run.pk)
    [(path, headers, body)] = story.service.got
    assert (path, body) == ("/refunds", canonical.encode(refund(30_000)))
    assert headers["Idempotency-Key"] == story.call.key and headers["webhook-id"] == story.call.public_id
    assert (story.call.status, story.approval.outcome, Attempt.objects.get().outcome) == ("executed",) * 3
    assert json.loads(body)["amount"] == 30_000 and timeline.doubts(story.run) == []
