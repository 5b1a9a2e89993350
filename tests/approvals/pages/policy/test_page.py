"""The policy page: the rules in force as sentences, the versions, and in what two of them differ."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals import gate, policies, rows
from tests.approvals.pages.conftest import reads as reads
from tests.cast import POLICY, Cast, propose, refund

AT = "/w/northwind/policy"
STRICTER = POLICY.replace("maximum: 100000", "maximum: 80000").replace("count: 2", "count: 1") + (
    "  - {id: reading, match: {tool: tickets.read}, verdict: allow}\n"
)


@pytest.fixture
def two(cast: Cast) -> Cast:
    """Northwind, with a second version of the policy."""
    policies.load(cast.northwind, STRICTER, by=cast.omar.public_id, author=cast.omar)
    return cast


def text(page: Client, address: str = AT) -> str:
    answer = page.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_every_member_reads_the_rules_as_sentences(cast: Cast, reads: Any) -> None:
    found = text(reads(cast.riley))
    assert "payments.create_refund" in found and "two of Finance" in found
    assert "amount of at most 5,000" in found and "amount is a whole number" in found
    assert "Everything else is refused." in found
    assert found.index('id="rule-small-refunds"') < found.index('id="rule-no-closing"')


def test_the_people_of_the_teams_stand_beside_the_rules(cast: Cast, reads: Any) -> None:
    assert "Dana Okafor" in (found := text(reads(cast.riley))) and "Priya Nair" in found
    assert "Version 1 in force" in found and "by Omar Haddad" in found


def test_a_rule_says_how_often_it_decided_lately(cast: Cast, reads: Any) -> None:
    with rows.within(cast.northwind):
        gate.hold(gate.judge(propose(cast, refund(4000))))
    found = text(reads(cast.riley))
    assert "1 call in 30 days" in found and "0 calls in 30 days" in found


def test_a_difference_stands_in_its_sentence_word_by_word(two: Cast, reads: Any) -> None:
    found = text(reads(two.riley), f"{AT}?view=changes")
    assert "<del><bdi>100</bdi></del><ins><bdi>80</bdi></ins>" in found or "<del><bdi>100,000" in found
    assert "<ins><b><bdi>one " in found or "<ins><b><bdi>one" in found
    assert "reading, new" in found


def test_a_rule_that_went_is_shown_where_it_stood(two: Cast, reads: Any) -> None:
    found = text(reads(two.riley), f"{AT}?view=changes&version=1&from=2")
    assert "Rule reading, removed" in found and "Version 2 is in force" in found


def test_an_older_version_is_told_as_such_and_its_document_whole(two: Cast, reads: Any) -> None:
    assert "Version 2 is in force" in text(reads(two.riley), f"{AT}?version=1")
    assert "&quot;maximum&quot;: 100000" in text(reads(two.riley), f"{AT}?version=1&view=json")


@pytest.mark.parametrize(
    "query", ["version=9", "version=x", "from=7", "version=99999999999", "version=-1", "version=0"]
)
def test_a_version_that_is_not_there_is_not_found(cast: Cast, reads: Any, query: str) -> None:
    assert reads(cast.riley).get(f"{AT}?{query}").status_code == 404


def test_a_workspace_without_a_policy_says_what_follows(cast: Cast, reads: Any) -> None:
    assert "Every call is refused" in text(reads(cast.oskar), "/w/halden/policy")


def test_a_version_that_is_not_as_it_was_saved_is_not_shown(two: Cast, reads: Any) -> None:
    with rows.within(two.northwind):
        row = policies.current(two.northwind.pk)
        assert row is not None
        row.pk, row.version, row._state.adding = rows.uuid7(), 3, True
        row.save(force_insert=True)
    assert "not as it was saved" in text(reads(two.riley))


def test_what_stands_above_the_rules_is_told(cast: Cast, reads: Any) -> None:
    head = """
masks: {payments.create_refund: [/charge]}
limits: {yeses_per_minute: 10}
freezes: {nights: {days: [mon, tue], from: "22:00", to: "06:00", zone: Europe/Berlin}}
shadow: {until: "2099-01-01T00:00:00Z"}
"""
    policies.load(cast.northwind, POLICY + head, by="system")
    found = text(reads(cast.riley))
    assert "/charge is shown to nobody" in found and "10 times a minute" in found
    assert "22:00 to 06:00, Mondays and Tuesdays" in found and "In shadow until" in found


def test_the_page_asks_as_much_for_many_rules_as_for_few(
    cast: Cast, reads: Any, django_assert_max_num_queries: Any
) -> None:
    many = "".join(f"  - {{id: r{n}, match: {{tool: t{n}}}, verdict: allow}}\n" for n in range(200))
    policies.load(cast.northwind, POLICY + many, by="system")
    page = reads(cast.riley)
    text(page)
    with django_assert_max_num_queries(45):
        text(page)
