"""The campaign over recorded tools in small: our own tools, in the shapes that published ones have."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from tests.campaigns import tools
from tests.campaigns.reading import missing
from tests.campaigns.stage import Stage
from tests.campaigns.test_campaigns import campaign


def test_every_call_of_our_own_tools_is_sent_as_approved() -> None:
    """AP-E1, AP-E2, AP-E4, AP-E7, AP-E8, AP-E9, AP-X1, AP-X2: over HTTP, against real processes."""
    figures = campaign("prove", "tools", "--cases", "tests/tools", "--seed", "1", seconds=400)
    assert figures["ok"]
    assert (figures["admitted"], figures["calls"], figures["exact"]) == (10, 11, 11)
    assert figures["invalid_edits"] == figures["refused_edits_at_field"] == 10


def test_without_a_case_folder_the_campaign_fails(tmp_path: Path) -> None:
    """It says so before it starts anything, with figures of nothing."""
    ok, figures = tools.run(Stage(), Namespace(cases=tmp_path))
    assert not ok
    assert set(figures.values()) == {0}


def test_a_reader_notices_what_a_page_leaves_out() -> None:
    """AP-X2: the check itself can fail."""
    row = '<dl><div><dt>{}</dt><dd class="value">{}</dd></div></dl>'
    page = row.format("amount", "5") + row.format("note", "cut…") + row.format("to", "[&quot;a&quot;, &quot;b&quot;]")
    args = {"amount": 5, "note": "cut here", "to": ["a", "b"], "gone": None}
    assert missing(page, args, ()) == ["/note", "/gone"]
    assert missing(row.format("password", "hunter2"), {"password": "hunter2"}, ["/password"]) == ["/password"]
