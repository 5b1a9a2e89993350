"""What a list says of all its rows is right, and stays cheap when they are many."""

from __future__ import annotations

import pytest

from approvals.approvals import Approval
from approvals.rows import bounded
from tests.cast import Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")


def test_rows_are_counted_up_to_what_anybody_reads(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Approval.objects.filter(workspace=cast.northwind).order_by("created_at")
    assert not bounded.total(found)
    for _ in range(3):
        ask(cast, refund())
    assert (str(bounded.total(found)), bounded.total(found).count) == ("3", 3)
    monkeypatch.setattr(bounded, "MOST", 2)
    assert str(bounded.total(found)) == "more than 2"


def test_the_values_of_a_column_are_those_of_the_workspace(cast: Cast) -> None:
    """In order, each once, none of a neighbour's, and no more than are wanted."""
    for name in ("mail", "b", "a", "b", "a"):
        Approval.objects.filter(pk=ask(cast, refund()).pk).update(tool=name)
    assert bounded.values(Approval, "tool", cast.northwind.pk, most=9) == ["a", "b", "mail"]
    assert bounded.values(Approval, "tool", cast.northwind.pk, most=2) == ["a", "b"]
    assert bounded.values(Approval, "tool", cast.halden.pk, most=9) == []
