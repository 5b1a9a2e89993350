"""The first steps: an empty workspace leads somebody to their first approved call."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from approvals import people, policies, rows
from approvals.approvals import Approval
from runtime import definitions
from runtime.credentials import AgentCredential
from runtime.definitions import Agent
from runtime.runs import Run
from tests import cast as casting
from tests.confirmed import confirmed
from tests.runtime.conftest import Desk

pytestmark = pytest.mark.committed
START = "/w/halden/start"
NOTE: dict[str, Any] = {
    "name": "notes.write",
    "inputSchema": {
        "type": "object",
        "required": ["text", "copies"],
        "properties": {"text": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
    },
}


@pytest.fixture
def oskar(desk: Desk) -> Client:
    """Who administers Halden, in which there is nothing yet."""
    people.grant(desk.cast.oskar, "administer", desk.cast.halden, by="system")
    rows.enter(desk.cast.halden)
    return confirmed(desk.cast.oskar)


def states(page: Client) -> list[str]:
    """How the four steps stand."""
    html = page.get(f"{START}?part=progress").content.decode()
    return re.findall(r'<li class="(\w+)"', html)


def shown(answer: Any) -> str:
    return str(answer.content.decode())


def with_a_tool(desk: Desk) -> None:
    definitions.register_tool(desk.cast.halden.pk, NOTE, kind="http", config={}, effect="unsafe", by="system")


def decides(page: Client, desk: Desk, **more: Any) -> Any:
    sent = {"way": "each", "team": "Approvers", "person": [desk.cast.oskar.public_id]} | more
    return page.post(f"{START}/policy", sent, follow=True)


def test_four_steps_lead_to_a_first_approved_call(desk: Desk, oskar: Client) -> None:
    """Each step is done once what it makes is there."""
    assert f'href="{START}"' in shown(oskar.get("/w/halden/"))
    assert states(oskar) == ["now", "later", "later", "later"]
    found = shown(oskar.post(f"{START}/agent", {"agent": "clerk"}))
    secret = re.findall(r"plk_\w+", found)[0]
    assert f"Authorization: Bearer {secret}" in found and states(oskar)[:2] == ["done", "now"]
    with_a_tool(desk)
    assert "is in force" in shown(decides(oskar, desk)) and states(oskar) == ["done", "done", "done", "now"]
    oskar.post(f"{START}/call", {"tool": "notes.write", "args": '{"text": "Hello", "copies": 1}'})
    desk.work(Run.objects.get(workspace=desk.cast.halden))
    asked = Approval.objects.get(workspace=desk.cast.halden)
    assert asked.public_id in shown(oskar.get(START)) and asked.rehearsal
    casting.say(asked, desk.cast.oskar, "approve")
    assert states(oskar) == ["done"] * 4


def test_the_secret_is_shown_once(desk: Desk, oskar: Client) -> None:
    oskar.post(f"{START}/agent", {"agent": "clerk"})
    assert "plk_" not in shown(oskar.get(START))
    assert AgentCredential.objects.get(workspace=desk.cast.halden).agent.name == "clerk"


def test_a_credential_takes_a_fresh_sign_in(desk: Desk, oskar: Client) -> None:
    old = confirmed(desk.cast.oskar, ago=3600)
    for step in ("agent", "policy"):
        answer = old.post(f"{START}/{step}", {"agent": "clerk"})
        assert answer.status_code == 302 and "/accounts/" in answer["Location"]
    assert not Agent.objects.filter(workspace=desk.cast.halden).exists()


def test_who_does_not_administer_sees_how_far_it_is_and_does_nothing(desk: Desk) -> None:
    riley = confirmed(desk.cast.riley)
    html = shown(riley.get("/w/northwind/start"))
    assert (
        "Those who administer Northwind refunds take them." in html
        and "<button" not in html.split("<main")[1].split("</main>")[0]
    )
    assert {riley.post(f"/w/northwind/start/{step}").status_code for step in ("agent", "policy", "call")} == {403}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"team": ""}, "Give the team a name"),
        ({"way": "none"}, "Choose one of the sentences."),
        ({"person": []}, "Choose at least one person."),
        ({"way": "two"}, "Choose at least 2 people."),
    ],
)
def test_a_first_policy_that_nobody_could_meet_is_refused(
    desk: Desk, oskar: Client, wrong: dict[str, Any], told: str
) -> None:
    answer = decides(oskar, desk, **wrong)
    assert answer.status_code == 422 and told in shown(answer)
    assert policies.current_version(desk.cast.halden.pk) == 0 and not people.Team.objects.filter(name="").exists()


def test_a_policy_that_is_there_is_not_replaced(desk: Desk, oskar: Client) -> None:
    decides(oskar, desk)
    assert "in force already" in shown(decides(oskar, desk, way="reading"))
    assert policies.current_version(desk.cast.halden.pk) == 1


def test_what_only_reads_goes_where_the_first_policy_says_so(desk: Desk, oskar: Client) -> None:
    definitions.register_tool(desk.cast.halden.pk, NOTE, kind="http", config={}, effect="pure", by="system")
    decides(oskar, desk, way="reading")
    judged = policies.judge(desk.cast.halden.pk, tool="notes.write", agent="clerk", args={})
    assert (judged.verdict, judged.rule_id) == ("allow", "reading")


def test_a_call_for_real_is_in_the_name_of_whoever_proposes_it(desk: Desk, oskar: Client) -> None:
    """Nobody approves their own by it; only what is never sent is nobody's."""
    with_a_tool(desk)
    decides(oskar, desk)
    sent = {"tool": "notes.write", "args": '{"text": "Hello", "copies": 1}', "how": "real"}
    oskar.post(f"{START}/call", sent)
    run = Run.objects.get(workspace=desk.cast.halden)
    assert run.requester == desk.cast.oskar and not run.rehearsal


@pytest.mark.parametrize("args", ["{", "[]", '{"a": 1, "a": 2}'])
def test_arguments_that_are_none_are_told_at_their_field(desk: Desk, oskar: Client, args: str) -> None:
    with_a_tool(desk)
    decides(oskar, desk)
    answer = oskar.post(f"{START}/call", {"tool": "notes.write", "args": args})
    assert answer.status_code == 422 and "JSON object" in shown(answer)
    assert not Run.objects.filter(workspace=desk.cast.halden).exists()


def test_a_tool_of_nobody_is_not_found(desk: Desk, oskar: Client) -> None:
    assert oskar.post(f"{START}/call", {"tool": "asked.keyed", "args": "{}"}).status_code == 404


def test_the_arguments_begin_with_what_the_tool_needs(desk: Desk, oskar: Client) -> None:
    with_a_tool(desk)
    decides(oskar, desk)
    assert "&quot;text&quot;: &quot;&quot;" in (html := shown(oskar.get(START))) and "&quot;copies&quot;: 1" in html
