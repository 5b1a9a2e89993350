"""People read and decide approvals by the API; agents read their own and decide nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from approvals.approvals import Approval
from approvals.decisions import Decision
from runtime.calls import Call
from tests.runtime import tooling
from tests.runtime.api.conftest import Api, fault, machine, path_of, person, verdict
from tests.runtime.conftest import Desk, call

Held = Callable[..., Approval]


def _decide(api: Api, approval: Approval, word: str = "approve", **more: Any) -> Any:
    return api.post(path_of(approval, "/decisions"), verdict(approval, word, **more))


def test_a_person_reads_what_is_asked_and_approves_it(desk: Desk, dana: Api, held: Held) -> None:
    """DS-8: approved is not executed; the outcome comes from the machine, later."""
    approval = held(n=7)
    told = dana.get(path_of(approval)).json()
    assert told["action_request"] == {"name": "asked.keyed", "args": {"n": 7}}
    assert (told["title"], told["requested_by"]["name"]) == ("Count 7", "Riley Chen")
    may = {"may_approve": True, "may_edit": True, "may_respond": False}
    assert told["standing"] == may | {"code": "", "reason": "", "in_place_of": ""}
    answer = _decide(dana, approval, message="Fine.")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["approval"]["outcome"]) == ("approved", "none")
    desk.work(Call.objects.get().run)
    assert dana.get(path_of(approval)).json()["outcome"] == "executed"
    assert len(tooling.happened("done")) == 1


def test_the_decision_says_who_by_the_session_and_through_what(desk: Desk, dana: Api, held: Held) -> None:
    """AP-I3, CH-B36: the name comes from the session; a body that claims another is refused."""
    approval = held()
    body = verdict(approval, decided_by="per_" + "0" * 32)
    assert fault(dana.post(path_of(approval, "/decisions"), body)) == (422, "invalid", "/decided_by")
    _decide(dana, approval)
    told = dana.get(path_of(approval)).json()["decisions"][0]
    assert told["decided_by"] == {"person_id": desk.cast.dana.public_id, "name": "Dana Okafor"}
    assert told["decided_via"] == "api"


def test_a_verdict_goes_to_the_approval_of_its_address_alone(dana: Api, held: Held, desk: Desk) -> None:
    """DS-5: no word stands for one, and the body of another approval does not fit."""
    first, second = held(n=1), held(n=1)
    for name in ("latest", "oldest", "pending"):
        path = path_of(first, "/decisions").replace(first.public_id, name)
        assert fault(dana.post(path, verdict(first)))[:2] == (404, "not_found")
    assert fault(dana.post(path_of(first, "/decisions"), verdict(second)))[:2] == (409, "wrong_digest")
    assert _decide(dana, second).status_code == 200
    assert [Approval.objects.get(pk=one.pk).status for one in (first, second)] == ["pending", "approved"]


def test_an_edit_keeps_types_and_runs_as_edited(desk: Desk, dana: Api, held: Held) -> None:
    """AP-E1, AP-E4: what was sent as a number arrives as that number."""
    approval = held(n=7)
    answer = _decide(dana, approval, "edit", edited_action={"name": "asked.keyed", "args": {"n": 5}})
    assert (answer.json()["status"], answer.json()["revision"]) == ("approved", 2)
    desk.work(Call.objects.get().run)
    assert tooling.happened("done")[0]["args"] == {"n": 5}
    told = dana.get(path_of(approval)).json()
    assert [one["args"] for one in told["revisions"]] == [{"n": 7}, {"n": 5}]
    changed = [{"op": "replace", "path": "/n", "value": 5}]
    assert [(one["verdict"], one["patch"]) for one in told["decisions"]] == [("edit", changed), ("approve", None)]


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (None, "/edited_action"),
        ({"name": "free.unsafe", "args": {"n": 5}}, "/edited_action/name"),  # AP-E3, CH-B133
        ({"name": "asked.keyed", "args": {"n": "5"}}, "/edited_action/args/n"),  # AP-E7
        ({"name": "asked.keyed", "args": {"n": 5, "force": True}}, "/edited_action/args/force"),  # IN-E27
        ({"name": "asked.keyed", "args": {}}, "/edited_action/args/n"),  # AP-E2
        ({"name": "asked.keyed", "args": {"n": 5, "note": {"$kept": "/n"}}}, "/edited_action/args/note"),
    ],
)
def test_an_edit_that_cannot_be_names_its_field_and_changes_nothing(
    dana: Api, held: Held, desk: Desk, action: Any, field: str
) -> None:
    approval = held(n=7)
    answer = _decide(dana, approval, "edit", **({"edited_action": action} if action else {}))
    assert fault(answer) == (422, "invalid_edit", field)
    assert (Approval.objects.get().revision, Approval.objects.get().status) == (1, "pending")


def test_an_approval_never_carries_arguments(dana: Api, held: Held, desk: Desk) -> None:
    """IN-E58: what a verdict does not use is refused, not passed over."""
    answer = _decide(dana, held(), edited_action={"name": "asked.keyed", "args": {"n": 9}})
    assert fault(answer) == (422, "invalid_edit", "/edited_action")


def test_an_answered_question_leaves_its_siblings_open(dana: Api, desk: Desk) -> None:
    """AP-P14: of three calls of one step each keeps its own form, and each waits for its own answer."""
    run = desk.begin([call("asked.keyed", n) for n in (1, 2, 3)])
    asked = list(Approval.objects.order_by("pk"))
    for index, approval in enumerate(asked):
        for still in asked[index:]:
            page = dana.client.get(f"/w/northwind/approvals/{still.public_id}").content.decode()
            assert 'name="verdict" value="approve"' in page
        assert _decide(dana, approval).status_code == 200
        assert Approval.objects.filter(status="pending").count() == 2 - index
    desk.work(run)
    assert sorted(one["args"]["n"] for one in tooling.happened("done")) == [1, 2, 3]


def test_a_rejection_needs_its_reason(dana: Api, held: Held, desk: Desk) -> None:
    """AP-R4: the reason reaches the agent."""
    approval = held()
    assert fault(_decide(dana, approval, "reject")) == (422, "needs_message", "/message")
    assert _decide(dana, approval, "reject", message="Too much.").json()["status"] == "rejected"
    run = Call.objects.get().run
    desk.work(run)
    assert desk.results(run)[0]["message"] == "Too much."


def test_the_same_verdict_sent_again_is_answered_alike(dana: Api, held: Held, desk: Desk) -> None:
    """AP-D1: a request that a client sends twice is one decision."""
    approval = held("pair.keyed")
    body = verdict(approval)
    first, again = (dana.post(path_of(approval, "/decisions"), body) for _ in range(2))
    assert first.json() == again.json()
    assert (first.json()["status"], first.json()["votes"], first.json()["required_approvals"]) == ("pending", 1, 2)
    assert Decision.objects.count() == 1


def test_who_comes_too_late_is_told_who_decided(dana: Api, held: Held, desk: Desk) -> None:
    """AP-D1, DS-1: the loser hears the winner's name and the state."""
    approval = held()
    late = verdict(approval, "reject", message="No.")
    _decide(person(desk.cast.priya), approval)
    answer = dana.post(path_of(approval, "/decisions"), late)
    assert fault(answer) == (409, "too_late", None)
    assert "Priya Nair" in answer.json()["error"]["message"]
    assert answer.json()["error"]["approval"]["decided_by"]["name"] == "Priya Nair"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"revision": 2}, (409, "stale_revision", "/revision")),  # AP-P9, IN-E59
        ({"action_digest": "0" * 64}, (409, "wrong_digest", "/action_digest")),
        ({"verdict": "approved"}, (422, "invalid", "/verdict")),  # AP-V1
        ({"verdict": None}, (422, "invalid", "/verdict")),  # AP-V11
        ({"revision": "1"}, (422, "invalid", "/revision")),
        ({"revision": True}, (422, "invalid", "/revision")),
        ({"revision": 1.0}, (422, "invalid", "/revision")),
        ({"revision": 0}, (422, "invalid", "/revision")),
        ({"revision": -1}, (422, "invalid", "/revision")),
    ],
)
def test_a_verdict_on_something_else_changes_nothing(
    dana: Api, held: Held, desk: Desk, change: dict[str, Any], expected: tuple[int, str, str]
) -> None:
    """AP-V9: the caller names what was read, and the server decides whether that still stands."""
    approval = held()
    assert fault(dana.post(path_of(approval, "/decisions"), verdict(approval) | change)) == expected
    assert not Decision.objects.exists()


def test_only_an_edit_is_told_as_an_edit(dana: Api, held: Held, desk: Desk) -> None:
    """A revision that never was is not called one that was edited while somebody read."""
    answer = _decide(dana, held(), revision=7).json()["error"]
    assert answer["message"] == "There is no such revision yet: 1 is the one to decide."


def test_a_number_too_large_for_the_column_is_no_fault_of_ours(dana: Api, held: Held, desk: Desk) -> None:
    approval = held()
    for number in (0, -1, 2**31, 2**53 - 1):
        answer = dana.post(path_of(approval, "/decisions"), verdict(approval) | {"revision": number})
        assert answer.status_code in {409, 422}


def test_agents_are_refused_before_the_id_is_looked_at(agent: Api, held: Held, desk: Desk) -> None:
    """AZ-13, AP-I4: known, unknown and malformed ids, right and wrong bodies, in any workspace: the same 403."""
    approval = held()
    paths = [path_of(approval), path_of(approval).replace("northwind", "nowhere"), "/workspaces/x/approvals/%F0"]
    answers = [agent.post(f"{path}/decisions", body) for path in paths for body in (verdict(approval), {}, None)]
    answers += [agent.post(f"{paths[0]}/decisions", raw="{"), agent.post(f"{paths[0]}/decisions", raw="")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(403, answers[0].content)}
    assert fault(answers[0])[:2] == (403, "forbidden")
    assert not Decision.objects.exists()


def test_an_agents_credential_beside_a_session_is_refused_too(dana: Api, agent: Api, held: Held, desk: Desk) -> None:
    """AZ-13: nobody is two callers at once."""
    both = Api(dana.client, dana.headers | agent.headers)
    assert fault(_decide(both, held()))[:2] == (403, "forbidden")


@pytest.mark.parametrize("rest", ["", "/decision", "/edit"])
def test_an_agents_credential_opens_no_page(agent: Api, held: Held, desk: Desk, rest: str) -> None:
    """AZ-13, AP-I4: the deciding pages turn it away as well, before anything is looked at."""
    at = f"/w/northwind/approvals/{held().public_id}{rest}"
    for answer in (agent.client.get(at, headers=agent.headers), agent.client.post(at, {}, headers=agent.headers)):
        assert fault(answer)[:2] == (403, "agent")


def test_a_foreign_workspace_and_an_unknown_id_look_alike(desk: Desk, dana: Api, held: Held) -> None:
    """AP-I5, AP-I6, WB-4: the same status and the same body, for reading and for deciding."""
    approval = held()
    oskar = person(desk.cast.oskar)
    unknown = path_of(approval)[:-32] + "0" * 32
    paths = [path_of(approval), unknown, unknown.replace("northwind", "halden"), path_of(approval) + "x"]
    read = [oskar.get(path) for path in paths] + [dana.get(unknown)]
    said = [oskar.post(f"{path}/decisions", verdict(approval)) for path in paths]
    assert {(answer.status_code, answer.content) for answer in read + said} == {(404, read[0].content)}
    assert fault(read[0])[:2] == (404, "not_found")
    assert fault(oskar.get("/workspaces/northwind/approvals"))[:2] == (404, "not_found")


def test_who_may_not_decide_is_told_why(desk: Desk, held: Held) -> None:
    """AP-I13: the asker is no approver, and neither is a member without the right."""
    approval = held()
    for who in (desk.cast.riley, desk.cast.omar):
        assert fault(_decide(person(who), approval)) == (403, "not_allowed", None)


def test_a_post_without_the_token_is_refused(dana: Api, held: Held, desk: Desk) -> None:
    """WB-1: a session alone decides nothing; neither does a request that another site makes."""
    approval = held()
    bare = Api(dana.client)
    assert fault(_decide(bare, approval))[:2] == (403, "forbidden")
    foreign = Api(dana.client, dana.headers | {"Sec-Fetch-Site": "cross-site"})
    assert fault(_decide(foreign, approval))[:2] == (403, "forbidden")
    assert fault(dana.get(path_of(approval, "/decisions")))[:2] == (405, "wrong_method")
    assert not Decision.objects.exists()


def test_whoever_was_switched_off_decides_nothing(dana: Api, held: Held, desk: Desk) -> None:
    """WB-7, AZ-1: read at the click."""
    approval = held()
    desk.cast.dana.is_active = False
    desk.cast.dana.save()
    assert fault(_decide(dana, approval))[:2] == (401, "not_known")


def test_an_agent_reads_its_own_approvals_alone(agent: Api, held: Held, desk: Desk) -> None:
    from runtime import definitions

    approval = held()
    assert agent.get(path_of(approval)).json()["standing"] is None
    other = definitions.register_agent(desk.cast.northwind.pk, "other", "scripted", {}, by="system")
    stranger = machine(Desk(desk.cast, other))
    assert fault(stranger.get(path_of(approval)))[:2] == (404, "not_found")
    assert stranger.get("/workspaces/northwind/approvals").json()["approvals"] == []


def test_the_list_is_narrowed_and_paged(dana: Api, held: Held, desk: Desk) -> None:
    approvals = [held(n=number) for number in range(3)]
    _decide(dana, approvals[0])
    pending = dana.get("/workspaces/northwind/approvals", status="pending", limit=1).json()
    assert [one["approval_id"] for one in pending["approvals"]] == [approvals[2].public_id]
    rest = dana.get("/workspaces/northwind/approvals", status="pending", cursor=pending["next"]).json()
    assert [one["approval_id"] for one in rest["approvals"]] == [approvals[1].public_id]
    of_a_run = dana.get("/workspaces/northwind/approvals", run_id=approvals[0].chain).json()
    assert [one["status"] for one in of_a_run["approvals"]] == ["approved"]


def test_secrets_stand_as_marks_and_are_kept_by_them(desk: Desk, dana: Api, agent: Api) -> None:
    """WB-9, IN-E49: no surface shows a secret, and an edit beside it leaves it as it was."""
    from runtime import definitions

    schema = {**tooling.SCHEMA, "properties": {**tooling.SCHEMA["properties"], "password": {"type": "string"}}}
    config = {"function": "tests.runtime.tooling.asked.keyed"}
    definition = {"name": "asked.keyed", "inputSchema": schema}
    definitions.register_tool(
        desk.cast.northwind.pk, definition, kind="function", config=config, effect="keyed", by="system"
    )
    run = desk.begin([call("asked.keyed", 1, password="hunter2")])
    approval = Approval.objects.get()
    told = dana.get(path_of(approval))
    args = told.json()["action_request"]["args"]
    assert args == {"n": 1, "password": {"$kept": "/password"}}
    assert b"hunter2" not in told.content + agent.get(f"/runs/{run.public_id}").content
    _decide(dana, approval, "edit", edited_action={"name": "asked.keyed", "args": args | {"n": 2}})
    desk.work(run)
    assert tooling.happened("done")[0]["args"] == {"n": 2, "password": "hunter2"}


def test_a_decision_that_comes_as_a_form_is_no_decision(desk: Desk, dana: Api, held: Held) -> None:
    """A body of another type is refused as such, though the check against forgery looked into it."""
    approval = held()
    form = '--x\r\nContent-Disposition: form-data; name="verdict"\r\n\r\napprove\r\n--x--\r\n'
    sent = dana.post(path_of(approval, "/decisions"), raw=form, **{"Content-Type": "multipart/form-data; boundary=x"})
    assert fault(sent) == (415, "wrong_type", "Content-Type")
    assert not Decision.objects.exists()
