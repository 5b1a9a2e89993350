"""What came of the refunds: read from each run's own log and from the payments service's books."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final

import httpx
from django.core.management import call_command

from approvals.approvals import Approval
from approvals.decisions import Decision
from approvals.people import Person
from approvals.rulings import Ruling
from runtime.calls import Call
from runtime.demo import services
from tests.campaigns import furniture
from tests.campaigns.bundles import Bundle
from tests.campaigns.figures import percentile
from tests.campaigns.refunds import Refund
from tests.campaigns.stage import Stage

SEND: Final = {"payments.create_refund", "campaign.once"}


@dataclass
class Proof:
    """The figures, and a sentence for everything that is not as it should be."""

    duplicate_effects_keyed: int = 0
    sends_without_decision: int = 0
    lost_decisions: int = 0
    unfinished: int = 0
    unknown_unsafe: int = 0
    resent_unsafe: int = 0
    recoveries: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        counted = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return counted | {"recover_p95_s": round(percentile(self.recoveries, 95), 1)}

    def blame(self, figure: str, fault: str, times: int = 1) -> None:
        setattr(self, figure, getattr(self, figure) + times)
        self.faults.append(f"{figure}: {fault}")


def prove(stage: Stage, refunds: list[Refund]) -> Proof:
    """Look at every refund and at every call that the payments service saw."""
    proof, books = Proof(), Books(stage)
    for refund in refunds:
        _finished(proof, refund)
        _decided(proof, refund)
        _paid_once(proof, refund, books)
    for call in books.calls:
        _was_decided(proof, call)
    if books.refunds != books.keys_refunded:
        proof.blame("duplicate_effects_keyed", f"{books.refunds} refunds for {books.keys_refunded} keys")
    return proof


class Books:
    """What the payments service has counted."""

    def __init__(self, stage: Stage) -> None:
        payments = services.payments(stage.home)
        with httpx.Client(base_url=f"http://{payments.address}", trust_env=False) as client:
            counts: dict[str, Any] = client.get("/counts").json()
            seen: list[dict[str, Any]] = client.get("/calls").json()["calls"]
        self.by_key: dict[str, dict[str, int]] = counts["by_key"]
        self.refunds: int = counts["refunds"]
        self.keys_refunded = sum(1 for entry in self.by_key.values() if entry["refunds"])
        self.calls = [call for call in seen if call["tool"] == "payments.create_refund"]


def log_of(refund: Refund) -> dict[str, Any]:
    """What `manage.py run log` says of its run."""
    out = StringIO()
    call_command("run", "log", refund.name, "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def _finished(proof: Proof, refund: Refund) -> None:
    if refund.problem or refund.run is None or not refund.is_over():
        status = refund.run.status if refund.run else "not there"
        proof.blame("unfinished", f"{refund.name} ({refund.blow}) is {status}. {refund.problem}")
        return
    run = refund.run
    if not refund.keyed and refund.is_in_doubt():
        proof.unknown_unsafe += 1
    elif run.status != "completed":
        proof.blame("unfinished", f"{refund.name} ({refund.blow}) is {run.status}: {run.reason}")
    if run.ended_at and run.ended_at.timestamp() > refund.hit_at > 0:
        proof.recoveries.append(run.ended_at.timestamp() - refund.hit_at)


def _decided(proof: Proof, refund: Refund) -> None:
    """Every approval that was answered as taken is there, and it is the one that counts."""
    approval = furniture.approval_named(refund.approval)
    for email in refund.taken:
        person = Person.objects.get(email=email)
        if not Decision.objects.filter(approval=approval, person=person, verdict="approve").exists():
            proof.blame("lost_decisions", f"{email} approved {refund.approval}")
    if approval and len(refund.taken) >= len(refund.people) and approval.status != "approved":
        proof.blame("lost_decisions", f"{refund.approval} is {approval.status} though everybody approved")


def _paid_once(proof: Proof, refund: Refund, books: Books) -> None:
    """One key, one effect; and a tool without a key was sent once at most."""
    if refund.run is None:
        return
    log = log_of(refund)
    for doubt in log["doubts"]:
        proof.blame("duplicate_effects_keyed", f"{refund.name}: {doubt}")
    sent = [call for call in log["calls"] if call["tool"] in SEND]
    seen = [books.by_key.get(call["key"], {"calls": 0, "refunds": 0}) for call in sent]
    refunds, calls = sum(entry["refunds"] for entry in seen), sum(entry["calls"] for entry in seen)
    if refunds > 1 or len(sent) > 1:
        proof.blame("duplicate_effects_keyed", f"{refund.name}: {refunds} refunds of {len(sent)} calls", refunds - 1)
    if not refund.keyed and calls > 1:
        proof.blame("resent_unsafe", f"{refund.name}: sent {calls} times", calls - 1)
    if log["status"] == "completed" and refunds != 1:
        proof.blame("unfinished", f"{refund.name} is completed with {refunds} refunds")


def _was_decided(proof: Proof, seen: dict[str, Any]) -> None:
    """Whether a call that arrived had been allowed before, with exactly these bytes."""
    call = Call.objects.filter(key=seen["key"]).first()
    if call is None or call.args_digest != seen["body_sha256"]:
        proof.blame("sends_without_decision", f"call {seen['id']} with key {seen['key']}: no call has these bytes")
        return
    approval = Approval.objects.filter(subject=call.public_id).first()
    if approval is None:
        if not Ruling.objects.filter(subject=call.public_id, verdict="allow").exists():
            proof.blame("sends_without_decision", f"{call.public_id} was never allowed")
        return
    votes = Decision.objects.filter(approval=approval, revision=approval.revision, verdict="approve")
    before = [vote for vote in votes if vote.decided_at.timestamp() <= seen["received_at"]]
    if len({vote.person_id for vote in before}) < approval.required:
        proof.blame("sends_without_decision", f"{call.public_id} was sent with {len(before)} of {approval.required}")


def wait_for_all(refunds: Sequence[Refund | Bundle], *, seconds: float) -> None:
    """Wait until every refund is over, or the time."""
    deadline = time.monotonic() + seconds
    for refund in refunds:
        refund.wait(deadline - time.monotonic())
    while time.monotonic() < deadline and not all(refund.is_over() for refund in refunds):
        time.sleep(0.25)
