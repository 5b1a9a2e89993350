"""Why somebody is asked, why somebody cannot, and who can."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from approvals import explaining, people, policies
from approvals.approvals import Approval
from tests.cast import POLICY, Cast, ask, refund, say


def able(approval: Approval) -> list[tuple[str, str]]:
    told = explaining.explain(Approval.objects.get(pk=approval.pk))
    return [(one.person.name, one.cannot) for one in told.people]


def why(approval: Approval, *words: str, workspace: str = "northwind") -> list[str]:
    out = StringIO()
    call_command("policy", "why", approval.public_id, *words, "--workspace", workspace, stdout=out)
    return out.getvalue().splitlines()


def test_it_says_which_rule_asks_whom_and_which_rules_came_before(cast: Cast) -> None:
    told = explaining.explain(ask(cast, refund(42_000)))
    assert (told.rule["id"], told.policy_version, told.passed) == ("refunds", 1, ["small-refunds"])
    assert (told.needs, told.open) == (["1 of Finance"], 1)
    assert [(one.person.name, one.seats) for one in told.can] == [
        ("Dana Okafor", ("Finance",)),
        ("Priya Nair", ("Finance",)),
    ]


def test_the_rule_is_that_of_the_day_it_was_asked_under(cast: Cast) -> None:
    approval = ask(cast, refund(42_000))
    policies.load(cast.northwind, POLICY.replace("id: refunds", "id: other"), by="system")
    told = explaining.explain(approval)
    assert (told.rule["id"], told.policy_version, told.passed) == ("refunds", 1, ["small-refunds"])


def test_whoever_asked_may_decide_for_others_and_is_told_why_not_here(cast: Cast) -> None:
    """AZ-2: the reason is told to everybody, so that nobody waits for them."""
    assert able(ask(cast, refund(42_000), requester=cast.dana)) == [
        ("Priya Nair", ""),
        ("Dana Okafor", "is the one on whose behalf it is asked"),
    ]


def test_whoever_said_yes_is_not_asked_again(cast: Cast) -> None:
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    assert able(approval) == [("Priya Nair", ""), ("Dana Okafor", "approved it already")]


def test_whoever_edited_leaves_the_yes_to_others_where_the_rule_says_so(cast: Cast) -> None:
    """AZ-2."""
    policies.load(
        cast.northwind, POLICY.replace("deadline: 1h", "deadline: 1h\n    editor_may_approve: false", 1), by="s"
    )
    approval = ask(cast, refund(42_000))
    say(approval, cast.dana, "edit", edited=refund(41_000))
    assert able(approval) == [("Priya Nair", ""), ("Dana Okafor", "made the edit that is to be approved")]


def test_somebody_without_the_right_hears_which_right_is_missing(cast: Cast) -> None:
    approval = ask(cast, refund(42_000))
    told = {who.name: explaining.yours(approval, who).cannot for who in (cast.dana, cast.omar, cast.oskar)}
    assert told == {
        "Dana Okafor": "",
        "Omar Haddad": "Omar Haddad has no right to decide for Finance.",
        "Oskar Lind": "Oskar Lind is no member of the workspace.",
    }
    cast.dana.is_active = False
    cast.dana.save()
    assert explaining.yours(approval, cast.dana).cannot == "Dana Okafor is switched off."


def test_the_command_tells_all_of_it_without_an_argument_of_the_call(cast: Cast) -> None:
    lines = why(ask(cast, refund(42_000), requester=cast.dana), "--as", cast.dana.email)
    assert lines[:4] == [
        "pending, revision 1: Create a refund",
        "Rule refunds of policy version 1 asks 1 of Finance",
        "The rules before it do not match: small-refunds",
        f"  Priya Nair <{cast.priya.email}>, Finance: can",
    ]
    assert lines[-2:] == [
        "Dana Okafor may reject",
        "Dana Okafor may not say yes: The agent asks on your behalf, so somebody else must approve it.",
    ]
    assert not any("42000" in line or "420" in line for line in lines)


def test_a_right_that_is_taken_away_shows_at_once(cast: Cast) -> None:
    """AZ-10."""
    approval = ask(cast, refund(42_000))
    people.revoke(cast.priya, "decide", cast.finance, by="system")
    assert able(approval) == [("Dana Okafor", "")]


def test_what_was_tampered_with_is_not_explained(cast: Cast) -> None:
    """AU-2."""
    approval = ask(cast, refund(42_000))
    Approval.objects.filter(pk=approval.pk).update(tool_title="Close an account")
    with pytest.raises(CommandError, match="cannot be proved"):
        why(approval)
