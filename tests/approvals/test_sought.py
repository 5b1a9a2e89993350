"""Words of the arguments: whole ones are found, nothing stands in clear, and what nobody may see has none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from approvals import erasure, policies, rows, sought
from approvals.approvals import Approval
from approvals.sought import Token
from tests.cast import POLICY, REFUND, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
NOTED = refund(note="Two pallets of Weißbier arrived wet: see INV-2024-017.")


def found(cast: Cast, text: str) -> list[str]:
    sought.look_through()
    condition = sought.having(cast.northwind.pk, text, sought.numbers())
    return [one.public_id for one in Approval.objects.filter(condition)] if condition else []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        *[("pallets", True), ("PALLETS", True), ("weissbier", True), ("pallet", False), ("allet", False)],
        *[("INV-2024-017", True), ("INV-2024-018", False), ("ch_3PqT2eLk9fZ", True), ("two pallets", True)],
        *[("€420.00", True), ("420", True), ("42000", True), ("42,000", True), ("pallets dry", False)],
    ],
)
def test_whole_words_are_found_however_they_are_written(cast: Cast, text: str, is_found: bool) -> None:
    approval = ask(cast, NOTED)
    assert found(cast, text) == ([approval.public_id] if is_found else [])


def test_an_edit_takes_its_words_along(cast: Cast) -> None:
    approval = ask(cast, NOTED)
    sought.look_through()
    say(approval, cast.dana, "edit", edited=refund(note="One crate arrived wet."))
    assert found(cast, "pallets") == [] and found(cast, "wet") == []
    other = ask(cast, refund(142_000, note="pallets"))
    sought.look_through()
    say(other, cast.dana, "edit", edited=refund(124_000, note="crate"))
    assert found(cast, "pallets") == [] and found(cast, "crate") == [other.public_id]


def test_nothing_stands_in_the_table_in_clear_or_the_same_for_two_workspaces(cast: Cast) -> None:
    """IN-M18: a number each, which says something only to who has the key."""
    ask(cast, NOTED)
    sought.look_through()
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, ' ') FROM approvals_token t")
        assert "pallets" not in cursor.fetchone()[0]
    one, other = (sought.token(each.pk, "pallets", 1) for each in (cast.northwind, cast.halden))
    assert one != other and one > 0 and other > 0


def test_what_is_masked_or_secret_has_no_words(cast: Cast) -> None:
    """By the policy, by the schema, by its name or by its look: none of it can be guessed by searching."""
    schema = {"type": "object", "properties": {"password": {"type": "string"}, "text": {"type": "string"}}}
    tool = replace(REFUND, schema=schema, summary="")
    ask(cast, {"password": "hunter22", "text": "sk_live_" + "a" * 24, "amount": 60_000}, tool=tool)
    assert found(cast, "hunter22") == [] and found(cast, "sk_live_" + "a" * 24) == [] and found(cast, "60000")


def test_what_policy_comes_to_mask_is_forgotten_at_once(cast: Cast) -> None:
    """Also of what waits already; the rest of it is found again as soon as it was looked through."""
    approval = ask(cast, NOTED)
    assert found(cast, "pallets")
    masks = POLICY + "masks: {payments.create_refund: [/note]}\n"
    policies.load(cast.northwind, masks, by=cast.omar.public_id, author=cast.omar)
    assert not Token.objects.filter(token__gt=0).exists()
    assert found(cast, "pallets") == [] and found(cast, "420") == [approval.public_id]


def test_one_approval_has_so_many_words_and_one_value_so_many_of_them(cast: Cast) -> None:
    """The first in the order of the page; a long text leaves room for the others."""
    long = " ".join(f"word{number}" for number in range(500))
    schema = {"type": "object", "properties": {f"t{number}": {"type": "string"} for number in range(9)}}
    ask(
        cast,
        {f"t{number}": f"n{number} {long[number * 300 :]}" for number in range(9)} | {"amount": 60_000},
        tool=replace(REFUND, schema=schema, summary=""),
    )
    assert found(cast, "n0") and found(cast, "n4") and Token.objects.count() <= sought.MOST
    assert found(cast, "word0") and not found(cast, "word499")


def test_words_go_with_what_they_are_of(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Erased at once, and some days after it was settled."""
    erased, settled = ask(cast, NOTED), ask(cast, NOTED)
    sought.look_through()
    for one in (erased, settled):
        say(one, cast.dana, "reject", message="No.")
    with rows.within(cast.northwind):
        erasure.erase(cast.northwind.pk, erased.chain)
    assert found(cast, "pallets") == [settled.public_id]
    assert sought.forget_settled() == 0
    monkeypatch.setattr(sought, "KEPT_FOR", timedelta(0))
    assert sought.forget_settled() == 1 and Token.objects.count() == 0


def test_arguments_that_were_tampered_with_have_no_words_and_stop_nobody(cast: Cast) -> None:
    bad, good = ask(cast, NOTED), ask(cast, NOTED)
    first = bad.revisions.get()
    type(first.ruling).objects.filter(pk=first.ruling_id).update(args=b"")
    assert found(cast, "pallets") == [good.public_id]
    assert not Token.objects.filter(token__lt=0).exists()
