"""Agents start, read and withdraw runs."""

import json
from typing import Any

import pytest

from approvals.approvals import Approval
from runtime import definitions
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.api.conftest import Api, fault, machine
from tests.runtime.conftest import Desk, call

BODY = {"input": {"steps": [[call("asked.keyed", 7)]]}, "title": "Ticket 4471"}


def test_a_started_run_is_accepted_read_and_listed(desk: Desk, agent: Api) -> None:
    started = agent.post("/runs", BODY)
    assert started.status_code == 201
    run = Run.objects.get()
    assert started.json()["run_id"] == run.public_id
    assert (run.requester_id, run.started_by) == (desk.cast.riley.pk, desk.agent.public_id)
    desk.work(run)
    told = agent.get(f"/runs/{run.public_id}").json()
    approval = Approval.objects.get()
    assert (told["status"], told["waiting_for"]) == ("suspended_approval", [approval.public_id])
    assert told["calls"][0]["args"] == {"n": 7}
    assert [one["run_id"] for one in agent.get("/runs").json()["runs"]] == [run.public_id]


def test_the_same_key_and_body_start_one_run(agent: Api) -> None:
    """AP-A4, AP-A5: a request that is sent again finds its run."""
    first = agent.post("/runs", BODY, Idempotency_Key="ticket-4471")
    again = agent.post("/runs", dict(reversed(BODY.items())), Idempotency_Key="ticket-4471")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["run_id"] == again.json()["run_id"]
    assert Run.objects.count() == 1


def test_an_agent_can_start_a_rehearsal(desk: Desk, agent: Api) -> None:
    told = agent.post("/runs", BODY | {"rehearsal": True}).json()
    assert told["rehearsal"] and Run.objects.get().rehearsal


@pytest.mark.parametrize("change", [{"title": "Another"}, {"input": {"steps": []}}, {"rehearsal": True}])
def test_the_same_key_with_another_body_is_a_conflict(agent: Api, change: dict[str, Any]) -> None:
    """AP-A5: a key never answers with the run of another request."""
    agent.post("/runs", BODY, Idempotency_Key="k")
    assert fault(agent.post("/runs", BODY | change, Idempotency_Key="k")) == (409, "key_reused", "Idempotency-Key")
    assert Run.objects.count() == 1


def test_a_key_is_bound_to_its_thread_and_its_person_too(place: Desk, agent: Api) -> None:
    """AP-A5: what the body leaves out counts as well."""
    thread = agent.post("/runs", BODY).json()["thread_id"]
    agent.post("/runs", BODY | {"thread_id": thread}, Idempotency_Key="k")
    assert agent.post("/runs", BODY | {"thread_id": thread}, Idempotency_Key="k").status_code == 200
    assert fault(agent.post("/runs", BODY, Idempotency_Key="k"))[:2] == (409, "key_reused")
    nobody = machine(place)
    assert fault(nobody.post("/runs", BODY | {"thread_id": thread}, Idempotency_Key="k"))[:2] == (409, "key_reused")


@pytest.mark.parametrize("key", ["", "k" * 121, "a b", "caf\u00e9"])
def test_a_key_that_is_none_is_refused(agent: Api, key: str) -> None:
    assert fault(agent.post("/runs", BODY, Idempotency_Key=key)) == (422, "invalid", "Idempotency-Key")


def test_a_thread_is_continued_by_its_own_agent(desk: Desk, agent: Api) -> None:
    first = agent.post("/runs", BODY).json()
    second = agent.post("/runs", BODY | {"thread_id": first["thread_id"]}).json()
    assert second["thread_id"] == first["thread_id"]
    stranger = fault(agent.post("/runs", BODY | {"thread_id": "thr_" + "0" * 32}))
    assert stranger == (404, "not_found", "/thread_id")
    assert fault(agent.post("/runs", BODY | {"thread_id": ""})) == (422, "invalid", "/thread_id")


def test_a_number_with_a_point_is_no_integer_of_ours_and_one_value_in_the_input(agent: Api) -> None:
    """A cap of 5.0 is refused; what the agent is given is read like any arguments."""
    assert fault(agent.post("/runs", BODY | {"budget": {"steps": 5.0}})) == (422, "invalid", "/budget/steps")
    first = agent.post("/runs", {"input": {"n": 1.0, "m": 1.5, "z": -0.0}}, Idempotency_Key="k").json()["run_id"]
    again = agent.post("/runs", {"input": {"n": 1, "m": 1.5, "z": 0}}, Idempotency_Key="k")
    assert (again.status_code, again.json()["run_id"]) == (200, first)


def test_a_withdrawn_run_ends_with_what_it_asked(desk: Desk, agent: Api) -> None:
    """AP-U11, DS-10: an agent closes its run, and never one question to go on without it."""
    run_id = agent.post("/runs", BODY).json()["run_id"]
    run = desk.work(Run.objects.get())
    assert agent.post(f"/runs/{run_id}/withdraw", {"reason": "The customer found it."}).status_code == 200
    desk.work(run)
    assert Approval.objects.get().status == "cancelled"
    assert agent.get(f"/runs/{run_id}").json()["status"] == "cancelled"
    assert tooling.happened("sent") == []


def test_a_finished_run_cannot_be_withdrawn(desk: Desk, agent: Api) -> None:
    run = desk.begin([call("free.pure", 1)])
    assert run.status == "completed"
    assert fault(agent.post(f"/runs/{run.public_id}/withdraw", {})) == (409, "ended", "run_id")


def test_checkpoints_tell_each_step_with_its_changes(desk: Desk, agent: Api) -> None:
    run = desk.begin([call("free.pure", 1)], [call("free.pure", 2)])
    first = agent.get(f"/runs/{run.public_id}/checkpoints", limit=2).json()
    assert [one["kind"] for one in first["checkpoints"]] == ["input", "step"]
    assert first["checkpoints"][0]["changes"][0]["path"] == "/input"
    rest = agent.get(f"/runs/{run.public_id}/checkpoints", after=first["next"]).json()
    assert rest["checkpoints"][0]["number"] == 3
    assert rest["next"] is None


def test_the_timeline_is_the_proof_that_nothing_happened_twice(desk: Desk, agent: Api) -> None:
    run = desk.begin([call("free.keyed", 1)])
    told = agent.get(f"/runs/{run.public_id}/timeline").json()
    assert told["doubts"] == []
    assert {"run.started", "attempt.executed"} <= {moment["kind"] for moment in told["moments"]}


def test_the_events_of_a_run_are_followed_by_their_cursor(desk: Desk, agent: Api) -> None:
    """IN-M18: page after page, then nothing new, then what has come since."""
    run = desk.begin([call("asked.keyed", 1)])
    at, kinds, after = f"/runs/{run.public_id}/events", list[str](), ""

    def follow() -> None:
        nonlocal after
        while page := (told := agent.get(at, after=after, limit=1).json())["events"]:
            kinds.extend(each["kind"] for each in page)
            after = told["next"]

    follow()
    assert kinds[-2:] == ["approval.opened", "run.suspended"] and agent.get(at, after=after).json()["next"] == after
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    desk.work(run)
    follow()
    assert kinds == [each["kind"] for each in agent.get(at).json()["events"]] and kinds[-1] == "run.completed"
    assert fault(agent.get(at, after="x")) == (422, "invalid", "after")
    assert agent.get(f"/runs/run_{'0' * 32}/events").status_code == 404


def test_pages_are_followed_by_their_cursor(agent: Api) -> None:
    """IN-M18: whatever size is asked for, a page has at most a hundred."""
    made = [agent.post("/runs", BODY | {"title": str(number)}).json()["run_id"] for number in range(5)]
    seen, cursor = [], ""
    while True:
        page = agent.get("/runs", limit=2, cursor=cursor).json()
        seen += [run["run_id"] for run in page["runs"]]
        cursor = page["next"]
        if not cursor:
            break
    assert seen == made[::-1]
    assert agent.get("/runs", limit=10**9).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "f" * 16 + "-" + "0" * 32}, "cursor"),
        ({"status": "no"}, "status"),
    ],
)
def test_a_page_that_cannot_be_is_refused_by_name(agent: Api, query: dict[str, Any], field: str) -> None:
    assert fault(agent.get("/runs", **query)) == (422, "invalid", field)


@pytest.mark.parametrize("cursor", ["x", "0-0-0", "0" * 5000, "\x00"])
def test_a_cursor_that_is_none_is_refused_alike_everywhere(agent: Api, cursor: str) -> None:
    """IN-M18: the same status, code and rule, at the name of the parameter, wherever there are pages."""
    run = agent.post("/runs", BODY).json()["run_id"]
    wrong = {"/runs": "cursor", "/workspaces/northwind/approvals": "cursor", f"/runs/{run}/events": "after"}
    for path, name in wrong.items():
        answer = agent.get(path, **{name: cursor})
        assert (*fault(answer), answer.json()["error"]["rule"]) == (422, "invalid", name, "cursor")


def test_a_person_is_told_that_runs_are_read_by_agents(dana: Api) -> None:
    """Who has signed in is not told to sign in."""
    answer = dana.get("/runs")
    assert fault(answer) == (403, "agents_only", "Authorization")
    assert "Sign in" not in answer.json()["error"]["message"]


def test_another_agents_runs_are_not_there(place: Desk, agent: Api) -> None:
    """AP-I5, AP-I6, WB-4: a foreign, an unknown and a malformed id are told alike."""
    run_id = agent.post("/runs", BODY).json()["run_id"]
    foreign = definitions.register_agent(place.cast.northwind.pk, "other", "scripted", {}, by="system")
    other = machine(Desk(place.cast, foreign))
    ids = (run_id, "run_" + "0" * 32, "nothing", run_id.removeprefix("run_"))
    answers = [other.get(f"/runs/{run_id}") for run_id in ids]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
    assert other.get("/runs").json() == {"runs": [], "next": None}
    assert fault(other.post(f"/runs/{run_id}/withdraw", {})) == (404, "not_found", "run_id")


@pytest.mark.parametrize("input", [{"a": 1}, {"big": "x" * 100_000}, {"deep": json.loads("[" * 40 + "]" * 40)}])
def test_any_json_object_is_an_input(agent: Api, input: dict[str, Any]) -> None:
    assert agent.post("/runs", {"input": input}).status_code == 201


def test_a_run_with_a_budget_says_where_it_stands(desk: Desk, agent: Api) -> None:
    """And whoever is asked to raise it is named among those it waits for."""
    steps = {"steps": [[call("free.pure") | {"estimate": {"tokens": 60}}]] * 2}
    agent.post("/runs", {"input": steps, "budget": {"tokens": 100, "steps": 9}}, Idempotency_Key="k")
    run = desk.work(Run.objects.get())
    told = agent.get(f"/runs/{run.public_id}").json()
    assert told["budget"]["tokens"] == {"cap": 100, "used": 60, "held": 0}
    assert told["budget"]["steps"] == {"cap": 9, "used": 2, "held": 0} and told["budget"]["money"]["cap"] is None
    assert told["waiting_for"] == [run.budget_question] and told["calls"][0]["outcome"] == "executed"
    other = {"input": steps, "budget": {"tokens": 500, "steps": 9}}
    assert fault(agent.post("/runs", other, Idempotency_Key="k")) == (409, "key_reused", "Idempotency-Key")


@pytest.mark.parametrize("budget", [{"tokens": -1}, {"money": 5}, {"cups": 3}, {"money": 5, "currency": "€"}])
def test_a_budget_that_is_none_starts_nothing(agent: Api, budget: dict[str, Any]) -> None:
    assert agent.post("/runs", BODY | {"budget": budget}).status_code == 422 and not Run.objects.exists()
