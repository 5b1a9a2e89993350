"""`manage.py grants`, and what the pages say of standing grants."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import policies
from approvals.approvals import Approval
from approvals.granting import Wish, ask
from approvals.grants import Grant
from tests import cast as casting
from tests.approvals.pages.conftest import Reads, at
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.test_grants import POLICY, hold
from tests.cast import Cast, refund

pytestmark = pytest.mark.usefixtures("heard")


@pytest.fixture(autouse=True)
def _policy(cast: Cast) -> None:
    policies.load(cast.northwind, POLICY, by="system")


def command(*words: str) -> str:
    told = StringIO()
    call_command("grants", *words, "--workspace", "northwind", stdout=told)
    return told.getvalue().strip()


def give(cast: Cast, *words: str) -> str:
    seen = casting.ask(cast, refund(30_000))
    return command("give", seen.public_id, "--as", cast.dana.email, *words)


def test_it_gives_lists_and_ends(cast: Cast) -> None:
    """AZ-15: time-boxed, listed with what is used, revocable."""
    told = give(cast, "--for", "30m", "--uses", "2", "--sum", "90000")
    grant = Grant.objects.get()
    assert told == f"{grant.public_id} is given."
    hold(cast)
    assert "given, used 1 of 2, 30000 of 90000, until" in command("list")
    assert command("end", grant.public_id, "--as", cast.priya.email) == "Ended."
    assert command("end", grant.public_id) == "It was ended before."
    assert "over, used 1 of 2, 30000 of 90000" in command("list") and "It was ended early." in command("list")


def test_it_takes_a_pattern_from_a_file(cast: Cast, tmp_path: Path) -> None:
    file = tmp_path / "pattern.json"
    file.write_text('{"required": ["currency"], "properties": {"currency": {"const": "eur"}}}')
    give(cast, "--pattern", str(file))
    assert hold(cast, refund(10_000))[1].verdict == "allow"


def test_the_others_that_it_needs_find_it_in_the_inbox(cast: Cast, reads: Reads) -> None:
    two = POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]")
    policies.load(cast.northwind, two, by="system")
    assert give(cast, "--reason", "A hundred came.").endswith("asks for it: 1 of 2 said yes.")
    asked = Approval.objects.get(kind="grant")
    page = reads(cast.priya).get(at(asked)).content.decode()
    assert "Give the grant" in page and "What would go without asking" in page and "Open the run" not in page
    assert "payments.create_refund" in page and "100000" in page and "the one that was seen" in page
    assert "A hundred came." in page and "in its own words" not in page
    assert asked.public_id in reads(cast.priya).get("/w/northwind/").content.decode()


def test_the_page_of_a_grant_shows_the_arguments_that_its_digest_stands_for(cast: Cast, reads: Reads) -> None:
    """AP-A3, AZ-15: nobody says yes to a digest alone, and what cannot be proved is not shown as if it were."""
    seen = casting.ask(cast, refund(30_000))
    asked = ask(cast.northwind.pk, seen, Wish(), by=cast.dana)
    assert isinstance(asked, Approval)
    page = reads(cast.priya).get(at(asked)).content.decode()
    assert "The arguments of the call that was seen, proved" in page and "€300.00" in page and "ch_3PqT2eLk9fZ" in page
    Approval.objects.filter(pk=seen.pk).update(tool_title="Another")
    page = reads(cast.priya).get(at(asked)).content.decode()
    assert "Nothing of the call that was seen can be proved" in page and "€300.00" not in page


def test_the_page_of_a_call_says_that_a_grant_may_be_given(cast: Cast, reads: Reads) -> None:
    page = reads(cast.dana).get(at(casting.ask(cast, refund(30_000)))).content.decode()
    assert "may also give a standing grant for 3 calls like it, within 1 hour." in page
    other = reads(cast.dana).get(at(casting.ask(cast, refund(500_000)))).content.decode()
    assert "standing grant" not in other


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("give", "apr_x", "--as", "dana@northwind.example"), "no such approval"),
        (("end", "grt_x"), "no such grant"),
    ],
)
def test_a_slip_is_told_in_a_sentence(cast: Cast, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        command(*words)


def test_who_may_not_is_told_so(cast: Cast, tmp_path: Path) -> None:
    seen = casting.ask(cast, refund(30_000))
    for more, told in (
        ((), "Say who gives it"),
        (("--as", cast.riley.email), "Only who may decide"),
        (("--as", cast.dana.email, "--uses", "4"), "3 calls within 3600 seconds"),
        (("--as", cast.dana.email, "--pattern", str(tmp_path / "none")), "No such file"),
    ):
        with pytest.raises(CommandError, match=told):
            command("give", seen.public_id, *more)
    give(cast)
    with pytest.raises(CommandError, match="may neither decide"):
        command("end", Grant.objects.get().public_id, "--as", cast.riley.email)


def test_a_word_that_a_rule_cannot_say_is_refused() -> None:
    """A grant skips the hold, so a rule says one of the two; and an allowed call needs none."""
    for word in ("hold_after: 5m\n    standing", "standing"):
        both = POLICY.replace("    standing", f"    {word}").replace(
            "for: 1h", "for: 1h" if "hold" in word else "for: 0"
        )
        with pytest.raises(policies.PolicyFault) as refused:
            policies.read_document(both)
        assert "standing" in refused.value.pointer


def test_two_rules_let_people_say_the_narrower() -> None:
    from approvals.policy_standing import narrower

    one: dict[str, Any] = {"for": 60, "uses": 9, "sum": {"of": "/a", "at_most": 5}}
    assert narrower(one, {"for": 90, "uses": 3}) == {"for": 60, "uses": 3, "sum": {"of": "/a", "at_most": 5}}
