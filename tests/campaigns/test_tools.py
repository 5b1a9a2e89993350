"""The campaign over recorded tools: what makes it fail."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

from tests.campaigns import forms, tools
from tests.campaigns.reading import missing
from tests.campaigns.stage import Stage


@pytest.mark.parametrize("campaign", [tools, forms], ids=["tools", "forms"])
def test_without_a_case_folder_the_campaign_fails(tmp_path: Path, campaign: ModuleType) -> None:
    """It says so before it starts anything, with figures of nothing."""
    ok, figures = campaign.run(Stage(), Namespace(cases=tmp_path))
    assert not ok
    assert set(figures.values()) == {0}


def test_a_reader_notices_what_a_page_leaves_out() -> None:
    """AP-X2: the check itself can fail."""
    row = '<dl><div><dt>{}</dt><dd class="value">{}</dd></div></dl>'
    page = row.format("amount", "5") + row.format("note", "cut…") + row.format("to", "[&quot;a&quot;, &quot;b&quot;]")
    args = {"amount": 5, "note": "cut here", "to": ["a", "b"], "gone": None}
    assert missing(page, args, ()) == ["/note", "/gone"]
    assert missing(row.format("password", "hunter2"), {"password": "hunter2"}, ["/password"]) == ["/password"]
