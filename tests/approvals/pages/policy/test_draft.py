"""Drafts of the policy: written, tried, and switched on or given to the people who have to approve it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client

from approvals import assurance, gate, people, policies, policy_drafts, policy_source, policy_switching, rows
from approvals.approvals import Approval
from approvals.people import Person
from approvals.policies import read_document
from approvals.policy_drafts import Draft
from tests.approvals.pages.conftest import at as at_approval
from tests.approvals.pages.conftest import reads as reads
from tests.cast import POLICY, Cast, propose, refund, say

pytestmark = pytest.mark.usefixtures("heard")
GUARD = """
  - id: guard
    match: {kind: change, tool: change.policy}
    verdict: require_approval
    approvals: [{team: finance}]
"""
LOWER = POLICY.replace("maximum: 100000", "maximum: 80000")
CASES = """cases:
  - {name: small, tool: payments.create_refund, args: {amount: 5000}, expect: allow}
  - {name: middle, tool: payments.create_refund, args: {amount: 90000}, expect: {rule: refunds}}
"""


def made_fresh(page: Client, person: Person) -> Client:
    """The same browser a moment after its person signed in."""
    session = page.session
    session[assurance.RECORDS] = [{"method": "password", "at": time.time()}]
    session[assurance.OWNER] = str(person.pk)
    session.save()
    return page


@pytest.fixture
def omar(cast: Cast, reads: Any) -> Client:
    page: Client = reads(cast.omar)
    return page


def begun(page: Client) -> str:
    """The address of a draft that was just begun."""
    answer = page.post("/w/northwind/policy/drafts")
    assert answer.status_code == 302
    return str(answer["Location"])


def the_draft() -> Draft:
    return Draft.objects.latest("created_at")


def write(page: Client, at: str, text: str, cases: str = "") -> Any:
    sent = {"number": the_draft().number, "text": text, "cases": cases}
    return page.post(f"{at}/text", sent, follow=True)


def act(page: Client, at: str, do: str, **more: Any) -> Any:
    return page.post(f"{at}/act", {"do": do, "number": the_draft().number, **more}, follow=True)


def shown(answer: Any) -> str:
    return str(answer.content.decode())


def in_force(cast: Cast) -> int:
    return policies.current_version(cast.northwind.pk)


def test_a_draft_begins_with_what_is_in_force_and_is_one_for_each(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    assert begun(omar) == at and read_document(the_draft().text) == cast.policy.contents
    assert "It says what is in force already" in shown(omar.get(at))


@pytest.mark.parametrize("who", ["riley", "dana"])
def test_who_does_not_administer_writes_no_policy(cast: Cast, omar: Client, reads: Any, who: str) -> None:
    at, other = begun(omar), reads(getattr(cast, who))
    assert {other.get(f"{at}{rest}").status_code for rest in ("", "/text", "/rule")} == {403}
    assert other.post("/w/northwind/policy/drafts").status_code == 403
    assert other.post(f"{at}/act", {"do": "switch"}).status_code == 403
    assert "Draft a change" not in shown(other.get("/w/northwind/policy"))


def test_what_is_no_policy_yet_is_kept_and_marked_at_its_line(cast: Cast, omar: Client) -> None:
    at, text = begun(omar), LOWER.replace("team: finance}", "team: legal}", 1)
    found = shown(write(omar, at, text))
    assert "Line 14" in found and "/rules/1/approvals/0/team" in found and "no team legal" in found
    assert the_draft().text == text and "Not a policy yet" in shown(omar.get(at))
    found = shown(write(omar, at, "policy: 1\nrules: [}"))
    assert "Line 2" in found and "rules: [}" in found


def test_of_two_windows_the_second_is_told_and_loses_nothing(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER)
    answer = omar.post(f"{at}/text", {"number": 1, "text": "policy: 1 # mine", "cases": ""})
    assert answer.status_code == 422 and "in another window" in shown(answer)
    assert "policy: 1 # mine" in shown(answer) and the_draft().text == LOWER


def test_a_draft_of_somebody_else_is_read_and_not_changed(cast: Cast, omar: Client, reads: Any) -> None:
    people.grant(cast.riley, "administer", cast.northwind, by="system")
    at, riley = begun(omar), reads(cast.riley)
    assert "alone changes it" in shown(riley.get(at))
    assert "by its author alone" in shown(write(riley, at, LOWER)) and the_draft().number == 1
    assert "by its author alone" in shown(act(made_fresh(riley, cast.riley), at, "switch")) and in_force(cast) == 1


def test_the_draft_stands_as_differences_from_what_is_in_force(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    found = shown(write(omar, at, LOWER))
    assert "1 change" in found and "<ins>" in found and "Switch on version 2" in found


def test_switching_on_takes_a_fresh_sign_in(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER)
    answer = omar.post(f"{at}/act", {"do": "switch", "number": 2})
    assert answer["Location"].startswith("/accounts/") and in_force(cast) == 1
    assert "Version 2 is in force." in shown(act(made_fresh(omar, cast.omar), at, "switch"))
    now = policies.current(cast.northwind.pk)
    assert now is not None and now.contents == read_document(LOWER) and now.author == cast.omar
    assert the_draft().ended_at is not None


def test_where_people_have_to_approve_it_the_draft_asks_them(cast: Cast, omar: Client, reads: Any) -> None:
    """AZ-9: the page lowers the policy past nobody either."""
    policies.load(cast.northwind, POLICY + GUARD, by="system")
    at = begun(omar)
    assert "Asks one of Finance, by rule guard." in shown(write(omar, at, POLICY))
    found = shown(act(omar, at, "switch", reason="It is in the way."))
    asked = Approval.objects.get(kind="change")
    assert asked.public_id in found and "People are asked" in found and in_force(cast) == 2
    assert "Withdraw it before you change it" in shown(write(omar, at, LOWER)) and the_draft().text == POLICY
    page = shown(reads(cast.dana).get(at_approval(asked)))
    assert "Rule guard, removed: " in page and "A change" in page and "Word for word" in page
    say(asked, cast.dana, "approve")
    assert in_force(cast) == 3 and "No longer open" in shown(omar.get(at))
    assert begun(omar) != at


def test_a_change_that_is_withdrawn_can_be_written_on(cast: Cast, omar: Client) -> None:
    policies.load(cast.northwind, POLICY + GUARD, by="system")
    at = begun(omar)
    write(omar, at, POLICY)
    act(omar, at, "switch")
    assert "can be changed again" in shown(act(omar, at, "withdraw"))
    assert "Saved." in shown(write(omar, at, LOWER + GUARD))


def test_a_version_switched_on_meanwhile_is_told_and_taken_over_rule_by_rule(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER)
    policies.load(cast.northwind, POLICY.replace("count: 2", "count: 1") + GUARD, by="system")
    assert "Version 2 was switched on since" in shown(omar.get(at))
    assert "Version 2 was switched on since" in shown(act(made_fresh(omar, cast.omar), at, "switch", number=2))
    assert in_force(cast) == 2
    assert "now stands on version 2" in shown(act(omar, at, "rebase"))
    expected = LOWER.replace("count: 2", "count: 1") + GUARD
    assert read_document(the_draft().text) == read_document(expected)


def test_what_both_changed_stays_the_authors_and_is_named(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER)
    policies.load(cast.northwind, POLICY.replace("maximum: 100000", "maximum: 90000"), by="system")
    assert "Both changed refunds: yours stayed" in shown(act(omar, at, "rebase"))
    assert read_document(the_draft().text) == read_document(LOWER)


def test_a_draft_that_is_thrown_away_is_gone(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    assert "thrown away" in shown(act(omar, at, "discard")) and begun(omar) != at
    assert act(omar, at, "nothing").status_code == 404


def test_a_call_is_tried_on_the_draft_and_on_what_is_in_force(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER)
    said = {"tool": "payments.create_refund", "args": '{"amount": 90000}', "requester": cast.dana.public_id}
    found = shown(omar.post(at, said))
    assert "Asks two of Finance, by rule large-refunds." in found
    assert "In force today: " in found and "Asks one of Finance, by rule refunds." in found
    assert "Priya Nair may say yes." in found and "matches" in found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"tool": "payments.create_refund", "args": "{"}, "no JSON object"),
        ({"tool": "payments.create_refund", "args": '{"amount": 1, "amount": 2}'}, "no JSON object"),
        ({"tool": "", "args": "{}"}, "Say which tool is called."),
        ({"tool": "unheard.of", "args": ""}, "Refused: no rule matches."),
        ({"tool": "payments.close_account"}, "Refused, by rule no-closing."),
        ({"tool": "payments.create_refund", "args": '{"amount": 50}'}, "Allowed, by rule small-refunds."),
    ],
)
def test_every_member_tries_a_call_on_what_is_in_force(cast: Cast, reads: Any, said: dict[str, str], told: str) -> None:
    answer = reads(cast.riley).post("/w/northwind/policy", said)
    assert answer.status_code == 200 and told in shown(answer)
    assert said.get("args", "") in shown(answer).replace("&quot;", '"')


def test_the_cases_of_a_draft_are_run_and_go_on_to_the_next(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    found = shown(write(omar, at, LOWER, CASES))
    assert "1 of 2 fail" in found and "large-refunds" in found and "No case comes to" in found
    assert "Line 2" in shown(write(omar, at, LOWER, "cases:\n  - {name: x}\n"))
    write(omar, at, LOWER, CASES)
    act(omar, at, "discard")
    begun(omar)
    assert the_draft().cases_text == CASES


def test_a_backtest_tells_of_which_calls_it_says_something_else(cast: Cast, omar: Client) -> None:
    with rows.within(cast.northwind):
        for amount in (90_000, 90_001, 50):
            gate.hold(gate.judge(propose(cast, refund(amount))))
    at = begun(omar)
    write(omar, at, LOWER)
    found = shown(omar.get(f"{at}?backtest=yes"))
    assert "3 calls of the last 30 days" in found and "people are asked right now" in found
    told = "Would be asked of two of Finance by large-refunds instead of being asked of one of Finance by refunds"
    assert told in found
    assert "No calls were ruled on" in shown(omar.get(f"{at}?backtest=yes&before=2020-01-01T00:00:00%2B00:00"))


def test_a_draft_at_rest_says_nothing(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, LOWER + "# the merger\n")
    assert b"merger" not in bytes(the_draft().source)


def test_the_command_and_the_page_put_in_force_by_the_same_code(cast: Cast) -> None:
    draft = policy_drafts.begin(cast.northwind, by=cast.omar, text=policy_source.text(policy_source.BLANK))
    assert isinstance(draft, Draft)
    made = policy_switching.switch_on(cast.northwind, LOWER, by=None)
    assert isinstance(made, policies.Policy) and made.version == 2
    refused = policy_drafts.switch_on(cast.northwind, draft, by=cast.omar, number=1)
    assert getattr(refused, "code", "") == "moved" and in_force(cast) == 2


def test_a_draft_that_is_not_as_it_was_kept_is_told_of_and_begun_anew(cast: Cast, omar: Client) -> None:
    at, kept = begun(omar), the_draft()
    Draft.objects.filter(pk=kept.pk).update(source=bytes(kept.cases))
    for rest in ("", "/text", "/rule"):
        assert "not as it was kept" in shown(omar.get(f"{at}{rest}", follow=True))
    assert begun(omar) != at
