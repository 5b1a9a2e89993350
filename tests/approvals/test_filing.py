"""Filing: every entry is found by who, what and when, once, whenever it was committed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from approvals import filing, gate, rows
from approvals.filing import Filed
from approvals.ledger.entries import Entry
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def filed(cast: Cast) -> int:
    while filing.file_new(cast.northwind.pk):
        pass
    with rows.reading(cast.northwind):
        return Filed.objects.filter(workspace=cast.northwind).count()


def test_each_entry_is_filed_once(cast: Cast) -> None:
    say(ask(cast, refund()), cast.dana, "approve")
    with rows.reading(cast.northwind):
        entered = Entry.objects.filter(workspace=cast.northwind).count()
    assert filed(cast) == filed(cast) == entered > 5


def test_what_is_committed_behind_the_last_one_is_found_too(cast: Cast, monkeypatch: Any) -> None:
    """An entry has its time before its commit: another one may be filed in between."""
    monkeypatch.setattr(filing, "BACK", timedelta(hours=1))  # however slow the machine is
    ask(cast, refund())
    whole = filed(cast)
    late = Filed.objects.filter(workspace=cast.northwind).order_by("-at", "-seq")[1]
    late.delete()
    assert filed(cast) == whole


def test_a_backlog_is_filed_in_parts_the_oldest_first(cast: Cast, monkeypatch: Any) -> None:
    ask(cast, refund())
    monkeypatch.setattr(filing, "MOST", 3)
    assert filing.file_new(cast.northwind.pk)
    monkeypatch.setattr(filing, "MOST", 1000)
    assert not filing.file_new(cast.northwind.pk)


def test_what_lies_far_behind_is_found_within_the_hour(cast: Cast, monkeypatch: Any) -> None:
    """Where a clock was put back, an entry may be long before the last one that was filed."""
    ask(cast, refund())
    whole = filed(cast)
    Filed.objects.filter(workspace=cast.northwind).update(at=F("at") + timedelta(hours=2))
    Filed.objects.filter(workspace=cast.northwind).order_by("at")[0].delete()
    assert filed(cast) == whole - 1
    monkeypatch.setattr(filing, "_NEXT", {})
    gate.file_all()
    assert filed(cast) == whole


def test_a_vote_is_filed_under_its_tool_and_agent(cast: Cast) -> None:
    """Which the entry itself does not name: they are those of the call that it tells of."""
    say(ask(cast, refund()), cast.dana, "approve")
    gate.file_all()
    with rows.reading(cast.northwind):
        vote = Filed.objects.get(workspace=cast.northwind, verdict="approve")
    assert (vote.tool, vote.agent, vote.via) == ("payments.create_refund", "refund-desk", "web")
    assert vote.by == cast.dana.public_id and vote.about.startswith("apr_")
