"""The pages of runs: the list, a run's timeline, its state for those who may read it, what became of a call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import gate, people, policies, rows
from runtime import pages
from runtime.api.shapes import run_detail
from runtime.runs import Run
from tests.runtime.conftest import POLICY, Desk, call

pytestmark = pytest.mark.committed
RUNS = "/w/northwind/runs"


@pytest.fixture
def reads() -> Callable[[Any], Client]:
    """`reads(person)`: a browser of that person's, without its JavaScript."""

    def open_client(person: Any) -> Client:
        client = Client()
        client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
        return client

    return open_client


def html_of(client: Client, run: Run) -> str:
    answer = client.get(f"{RUNS}/{run.public_id}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_run_tells_steps_calls_people_and_machine_in_one_column(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("free.pure", 1)], [call("asked.unsafe", 2)])
    desk.say(desk.calls(run)[1], desk.cast.dana, "edit", edited={"n": 4})
    desk.work(run)
    html = html_of(reads(desk.cast.riley), run)
    told = ["Started by", "Step 1", "free.pure", "allowed by rule free", "Step 2", "asked people, by rule asked"]
    told += ["changed and approved", "ran, once", "Done"]
    story = html[html.index('class="timeline"') :]
    places = [story.index(words) for words in told]
    assert places == sorted(places) and "2 ran" in html


def test_a_held_call_leads_to_its_review_page(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.unsafe", 2)])
    html = html_of(reads(desk.cast.riley), run)
    assert f'href="/w/northwind/approvals/{desk.calls(run)[0].approval}"' in html and "Waiting for a person" in html


def test_the_state_is_for_those_who_operate_or_audit(desk: Desk, reads: Callable[..., Client]) -> None:
    """An approver sees what was handed to the approval, and the timeline; not the run's state."""
    run = desk.begin([call("free.pure", 1)], [call("asked.unsafe", 2)])
    for person, sees in ((desk.cast.riley, False), (desk.cast.dana, False), (desk.cast.omar, True)):
        html = html_of(reads(person), run)
        assert ("Show the state" in html) == sees != ("Shown to those who operate" in html)
        answer = reads(person).get(f"{RUNS}/{run.public_id}/checkpoints/{run.head_seq}?show=all")
        assert answer.status_code == (200 if sees else 403) and (b"twice" in answer.content) == sees
    people.grant(desk.cast.riley, "audit", desk.cast.northwind, by="system")
    assert "Show the state" in html_of(reads(desk.cast.riley), run)


def test_a_secret_in_the_state_is_masked(desk: Desk, reads: Callable[..., Client]) -> None:
    """RN-13: masks hold where the state is shown, by name and by look."""
    run = desk.begin([call("free.pure", 1, note="sk_live_0123456789abcdefgh")], [call("asked.unsafe", 2)])
    client = reads(desk.cast.omar)
    for query in ("", "?show=all", "?with=1", "?show=all&at=/input", "?at=/input/steps/0/0/args"):
        html = client.get(f"{RUNS}/{run.public_id}/checkpoints/{run.head_seq}{query}").content.decode()
        assert "Checkpoint" in html and "sk_live_" not in html
    assert "sk_live_" not in html_of(client, run)


def test_what_policy_masks_of_a_call_is_on_no_page_of_its_run(desk: Desk, reads: Callable[..., Client]) -> None:
    """Nor in what the API tells of the run and of its open calls."""
    masks = "masks: {asked.unsafe: [/n]}\n"
    policies.load(desk.cast.northwind, POLICY.replace("rules:", f"{masks}rules:"), by="system")
    run = desk.begin([call("asked.unsafe", 8_675_309) | {"reason": "A test."}])
    [held], client = desk.calls(run), reads(desk.cast.riley)
    addresses = [f"{RUNS}/{run.public_id}", f"/w/northwind/calls/{held.public_id}"]
    told = [client.get(page) for page in addresses] + [
        client.get(f"/api/v1/workspaces/northwind/approvals/{held.approval}")
    ]
    assert all(answer.status_code == 200 and b"8675309" not in answer.content for answer in told)
    assert run_detail(run)["calls"][0]["args"] == {"n": {"$kept": "/n"}}


def test_only_who_operates_the_agent_may_stop_the_run(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.unsafe", 2)])
    stop = f"{RUNS}/{run.public_id}/stop"
    assert reads(desk.cast.dana).post(stop).status_code == 403
    assert reads(desk.cast.omar).get(stop).status_code == 405
    assert reads(desk.cast.oskar).post(stop).status_code == 404
    assert "Stop the run" not in html_of(reads(desk.cast.dana), run)
    assert "Stop the run" in html_of(reads(desk.cast.omar), run)
    assert reads(desk.cast.omar).post(stop, {"reason": "The customer withdrew."}).status_code == 302
    assert desk.work(run).status == "cancelled"
    html = html_of(reads(desk.cast.omar), run)
    assert "The customer withdrew." in html and "Stop the run" not in html


def test_a_stop_from_another_site_is_refused(desk: Desk, reads: Callable[..., Client]) -> None:
    """WB-1 holds here too."""
    run = desk.begin([call("asked.unsafe", 2)])
    answer = reads(desk.cast.omar).post(f"{RUNS}/{run.public_id}/stop", headers={"Sec-Fetch-Site": "cross-site"})
    run.refresh_from_db()
    assert answer.status_code == 403 and not run.cancel_by


def test_foreign_and_unknown_runs_and_calls_give_the_same_404(desk: Desk, reads: Callable[..., Client]) -> None:
    """WB-4 holds here too."""
    run = desk.begin([call("free.pure", 1)])
    known, strange = desk.calls(run)[0].public_id, rows.public_id("run", rows.uuid7())
    paths = [f"runs/{run.public_id}", f"calls/{known}", f"runs/{strange}", "runs/run_x", "calls/call_x", "runs"]
    answers = [reads(desk.cast.oskar).get(f"/w/northwind/{path}") for path in paths]
    answers += [reads(desk.cast.omar).get(f"/w/northwind/{path}") for path in paths[2:5]]
    assert {answer.status_code for answer in answers} == {404} and len({answer.content for answer in answers}) == 1


def test_a_part_of_the_page_is_fetched_only_when_something_happened(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.unsafe", 2)])
    client = reads(desk.cast.riley)
    version = client.get(f"{RUNS}/{run.public_id}").context["timeline"].version
    path = f"{RUNS}/{run.public_id}?seen={version}"
    assert client.get(path, headers={"HX-Request": "true"}).status_code == 204
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert client.get(path, headers={"HX-Request": "true"}).status_code == 200


def test_what_a_call_returned_is_shown_with_its_key_and_attempts(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("free.keyed", 3)])
    done = desk.calls(run)[0]
    html = reads(desk.cast.dana).get(f"/w/northwind/calls/{done.public_id}").content.decode()
    assert "What it returned" in html and "attempt 1 of 1" in html and "twice" in html and ">6<" in html


def test_what_is_known_of_a_call_is_shown_while_it_waits(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.keyed", 3)])
    waiting = desk.calls(run)[0]
    html = reads(desk.cast.dana).get(f"/w/northwind/calls/{waiting.public_id}").content.decode()
    assert "What is known" in html and waiting.key in html and "not yet" in html


def test_a_failed_call_is_told_as_such(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("free.unsafe", 1, **{"raise": "boom"})])
    html = html_of(reads(desk.cast.riley), run)
    assert "failed" in html and "1 failed" in html


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 2),
        ("state=completed", 1),
        ("state=suspended_approval", 1),
        ("state=x", 2),
        ("agent=scripted", 2),
        ("agent=x", 0),
        ("size=1000000000", 2),
        ("after=x", 2),
        ("agent=%00", 2),
    ],
)
def test_the_list_is_narrowed_and_bounded(desk: Desk, reads: Callable[..., Client], query: str, found: int) -> None:
    """IN-M18: sizes and filters come from a list, or are none."""
    desk.begin([call("free.pure", 1)])
    desk.begin([call("asked.unsafe", 2)])
    answer = reads(desk.cast.riley).get(f"{RUNS}?{query}")
    assert answer.status_code == 200 and answer.content.count(b'class="what"') == found


def test_a_full_list_costs_as_many_queries_as_a_short_one(desk: Desk, reads: Callable[..., Client]) -> None:
    client = reads(desk.cast.riley)
    costs = []
    for count in (1, 9):
        for _ in range(count):
            desk.start([call("free.pure", 1)])
        client.get(RUNS)
        with CaptureQueriesContext(connection) as queries:
            client.get(RUNS)
        costs.append(len(queries))
    assert costs[0] == costs[1] < 20


def test_the_next_page_goes_on_where_the_last_one_ended(desk: Desk, reads: Callable[..., Client]) -> None:
    for _ in range(27):
        desk.start([call("free.pure", 1)])
    client = reads(desk.cast.riley)
    first = client.get(RUNS)
    desk.start([call("free.pure", 1)])
    second = client.get(RUNS, {"after": first.context["next"]})
    assert second.content.count(b'class="what"') == 2 and second.context["next"] == ""


def test_a_run_that_was_tampered_with_says_so(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("free.pure", 1)])
    Run.objects.filter(pk=run.pk).update(title=b"\x01\x00\x01" + b"x" * 40, head_mac=b"x" * 34)
    html = html_of(reads(desk.cast.omar), run)
    assert "not the one that was sealed" in html and 'class="notice bad"' in html


def test_a_parked_run_says_what_may_be_done_and_by_whom(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.unsafe", 2)])
    Run.objects.filter(pk=run.pk).update(status="parked", reason_code="no_progress", reason="It came to nothing.")
    html = html_of(reads(desk.cast.omar), run)
    assert "It came to nothing." in html and "The workers’ logs say" in html and "Let it go on" in html
    html = html_of(reads(desk.cast.dana), run)
    assert "That is for those who operate" in html and "Let it go on" not in html


def test_a_run_says_how_long_it_worked_and_since_when_it_waits(desk: Desk, reads: Callable[..., Client]) -> None:
    run = desk.begin([call("asked.unsafe", 2)])
    begun = rows.now() - timedelta(minutes=40)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runtime_run SET created_at = %s, wake_at = %s", [begun, begun + timedelta(minutes=10)])
    assert "worked 10 min, waiting since" in html_of(reads(desk.cast.dana), run)


def test_a_long_timeline_is_shown_in_parts_the_newest_first(
    desk: Desk, reads: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LINES", 5)
    run = desk.begin(*[[call("free.pure", number)] for number in range(9)])
    client = reads(desk.cast.dana)
    newest = html_of(client, run)
    assert "Step 10" in newest and "Step 5<" not in newest and "?until=" in newest and "To the newest" not in newest
    earlier = client.get(f"{RUNS}/{run.public_id}?until=6").content.decode()
    assert "Step 5<" in earlier and "Step 10" not in earlier and "To the newest" in earlier
    for odd in ("0", "x", "-1", "9" * 30, "²"):
        assert client.get(f"{RUNS}/{run.public_id}?until={odd}").status_code == 200


@pytest.mark.parametrize(("age", "found"), [("hour", 1), ("day", 1), ("older", 1), ("", 2), ("x", 2)])
def test_runs_are_found_by_their_age(desk: Desk, reads: Callable[..., Client], age: str, found: int) -> None:
    old = desk.begin([call("free.pure", 1)])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runtime_run SET created_at = created_at - interval '8 days' WHERE id = %s", [old.pk])
    desk.begin([call("free.pure", 1)])
    answer = reads(desk.cast.riley).get(RUNS, {"age": age, "agent": "scripted"})
    assert answer.content.count(b'class="what"') == found


def test_a_run_of_a_stopped_agent_says_what_it_waits_for(desk: Desk, reads: Callable[..., Client]) -> None:
    """HF-6."""
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar)
    html = html_of(reads(desk.cast.dana), desk.begin([call("free.pure", 1)]))
    assert "its agent is stopped" in html and "goes on at" not in html
