"""The refund desk from its tickets to its answers, with its real services and the machine's own loop."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from approvals.api_shapes import summaries
from approvals.approvals import Approval
from approvals.decisions import Decided
from approvals.ledger import canonical
from approvals.people import Person
from approvals.policies import judge
from approvals.revisions import args_of, current_revision
from runtime import loop, timeline
from runtime.children import end, until
from runtime.demo import mailbox, services
from runtime.ports import is_free
from runtime.runs import Run
from runtime.stack import BASE
from tests import cast as casting
from tests.standing import come_to

pytestmark = pytest.mark.committed


def set_up() -> None:
    """The demo, by its command; the test stands in the desk's workspace then."""
    call_command("demo", stdout=StringIO())
    come_to("northwind")


@pytest.fixture
def home(committed_db: str, tmp_path: Path, settings: Any) -> Iterator[Path]:
    """The demo's home, its services running."""
    settings.PLACET_HOME = tmp_path
    wanted = services.services(tmp_path)
    settings.PLACET_ALLOW_ADDRESSES = {service.address for service in wanted}
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(BASE)}
    started = [subprocess.Popen(service.argv, env={**base, **service.env}, cwd=BASE) for service in wanted]
    assert until(lambda: not any(is_free(service.port) for service in wanted), seconds=20)
    yield tmp_path
    for process in started:
        end(process, signal.SIGTERM, patience=5)


def _work() -> None:
    """Let a worker look at every run until none is ready."""
    while ready := list(Run.objects.filter(status="ready")):
        for run in ready:
            loop.advance(run.pk, run.workspace_id)


def _say(title: str, name: str, verdict: str, **more: Any) -> None:
    answer = casting.say(_asked(title), Person.objects.get(name=name), verdict, **more)
    assert isinstance(answer, Decided), answer


def _asked(title: str) -> Approval:
    told = summaries(come_to("northwind"), Approval.objects.all())
    key = next(one["tool_call_id"] for one in told if one["title"].startswith(title))
    return Approval.objects.get(subject=key)


def _counts() -> dict[str, Any]:
    address = services.payments(Path(django_settings.PLACET_HOME)).address
    counts: dict[str, Any] = httpx.get(f"http://{address}/counts", trust_env=False).json()
    return counts


def test_small_refunds_run_by_policy_large_ones_wait_and_one_wish_is_refused(home: Path) -> None:
    """AP-A11, AP-D3, AP-P6: what policy allows runs at once and once; what it does not name or refuses never runs."""
    set_up()
    _work()
    assert (_counts()["refunds"], _counts()["closed"]) == (3, [])
    assert sorted(Approval.objects.values_list("rule_id", flat=True)) == [
        "large-refunds",
        "mail",
        "question",
        "refunds",
        "refunds",
    ]

    asked = Approval.objects.get(kind="question")
    offered = casting.say(asked, Person.objects.get(name="Dana Okafor"), "respond", response=b'{"amount": 2000}')
    assert isinstance(offered, Decided), offered
    _say("Refund €310.00", "Dana Okafor", "edit", edited=_args("Refund €310.00") | {"amount": 20000})
    _say("Refund €1,240.00", "Dana Okafor", "approve")
    _say("Refund €86.40", "Priya Nair", "reject", message="The bank says it was charged once")
    _say("Mail ledger@kestrel-accounts.example", "Priya Nair", "approve")
    _work()
    assert _counts()["refunds"] == 5
    _say("Refund €1,240.00", "Priya Nair", "approve")
    _work()

    assert {run.status for run in Run.objects.all()} == {"completed"}
    assert [doubt for run in Run.objects.all() for doubt in timeline.doubts(run)] == []
    counts = _counts()
    assert (counts["refunds"], counts["refunded"]) == (6, 1490 + 900 + 2950 + 20000 + 124000 + 2000)
    assert all(key["calls"] == 1 for key in counts["by_key"].values())
    (message,) = mailbox.kept(home / "mail")
    assert message["To"] == "ledger@kestrel-accounts.example"
    answers = "\n".join(path.read_text() for path in (home / "demo" / "replies").iterdir())
    assert "You asked for €310.00. After a second look we have sent €200.00" in answers
    assert "We cannot give €86.40 back. The bank says it was charged once." in answers
    assert "We have sent €20.00 back to the way you paid." in answers
    assert "We have not closed your account. An account is closed by a person" in answers


def _args(title: str) -> dict[str, Any]:
    args: dict[str, Any] = canonical.parse(args_of(current_revision(_asked(title))))
    return args


EUR = {"customer": "A", "charge": "ch_1", "reason": "damaged", "currency": "EUR"}


def test_the_desks_policy_says_what_the_demo_promises(home: Path) -> None:
    """AP-A11: at the borders of each rule, in another currency, and for a tool that nobody named."""
    set_up()
    northwind = come_to("northwind").pk
    for tool, args, verdict, rule in (
        ("payments.create_refund", EUR | {"amount": 5000}, "allow", "small-refunds"),
        ("payments.create_refund", EUR | {"amount": 5001}, "require_approval", "refunds"),
        ("payments.create_refund", EUR | {"amount": 100000}, "require_approval", "refunds"),
        ("payments.create_refund", EUR | {"amount": 100001}, "require_approval", "large-refunds"),
        ("payments.create_refund", EUR | {"amount": 10, "currency": "SEK"}, "require_approval", "large-refunds"),
        ("payments.get_charge", {"charge": "ch_1"}, "allow", "reading"),
        ("tickets.reply", {"ticket": "T-1", "text": "x"}, "allow", "answering-customers"),
        ("mail.send", {"to": "a@b.example", "subject": "x", "text": "y"}, "require_approval", "mail"),
        ("payments.close_account", {"customer": "A"}, "deny", "closing-accounts"),
        ("payments.create_refunds", EUR | {"amount": 1}, "deny", ""),
    ):
        opinion = judge(northwind, tool=tool, agent="refund-desk", args=args)
        assert (opinion.verdict, opinion.rule_id) == (verdict, rule), (tool, args)
