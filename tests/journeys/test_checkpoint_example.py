"""The example that the documentation shows runs against the real thing, as a newcomer would run it."""

import json
import subprocess
import sys
import urllib.request

import pytest

from runtime.stack import BASE, Stack

EXAMPLE = BASE / "docs" / "examples" / "checkpoint_interrupt_resumption.py"
TOLD = [
    "Pre-flight steps",
    "tickets.read",
    "payments.get_charge",
    "Pending action: Refund €1,240.00 to Halvorsen & Sons",
    "rule large-refunds needs 2, revision 1",
    "What the checkpoint holds",
    "thread_id ",
    "step ",
    "variables ",
    "plan ",
    "results ",
    "usage ",
    "pending_actions ",
    "schema_version  1",
    "Edited parameters, revision 2 by Dana: Refund €1,190.00 to Halvorsen & Sons",
    "(was 124000)",
    "1 of 2 approvals, pending",
    "Approval by Priya: 2 of 2, approved",
    "Finalisation: the run is completed",
    "payments.create_refund: executed, sent 1 time(s)",
    "Checkpoints",
    "Nothing happened twice, and nothing unasked.",
]


@pytest.mark.committed
@pytest.mark.lasts(35)
def test_the_checkpoint_example_tells_the_whole_run(stack: Stack) -> None:
    """AP-P6, AP-U1: one refund of the edited amount, told by the run's own record and by the payments service."""
    stack.start()
    assert stack.wait_healthy(60)
    done = stack.manage("demo")
    assert done.returncode == 0, done.stderr
    environment = {**stack.environment, "PLACET_URL": stack.url, "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run([sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, timeout=180)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = [part for part in TOLD if part in ran.stdout]
    assert told == TOLD, ran.stdout
    refund = json.loads(ran.stdout.split("The refund: ")[1].split(", key")[0])
    port = json.loads((stack.log.parent / "demo.json").read_text())["payments"]["port"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/counts") as answer:
        keys = json.load(answer)["by_key"].values()
    assert [(key["calls"], key["refunds"]) for key in keys if key["amount"] == refund["amount"]] == [(1, 1)]
