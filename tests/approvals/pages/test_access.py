"""Every page in every state holds to WCAG 2.2 AA, as far as a program can tell, in light and in dark."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.template.loader import get_template

from approvals import outcomes, people, rows
from tests.approvals.pages.conftest import at
from tests.cast import Cast, ask, refund, say

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"],  # the rest is found too, but not told at length
}

IN_DARK = RULES | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""What a page may break in dark alone: nothing but its colours is otherwise there."""

REFUSALS = ["400", "403", "403_csrf", "404", "429", "500", "503"]
"""The pages that say why there is no other."""


def problems(page: Any, rules: dict[str, Any] = RULES) -> list[str]:
    """What axe finds, a line each."""
    found = Axe().run(page, options=rules).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:300]}" for one in found for node in one["nodes"]
    ]


def problems_in_both(page: Any) -> list[str]:
    """The same in light, and of the colours in dark."""
    page.emulate_media(color_scheme="light")
    found = problems(page)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark {line}" for line in problems(page, IN_DARK)]


def states(cast: Cast) -> dict[str, str]:
    """A path for every page and state."""
    edited = ask(cast, refund(142_000, note="two\u200b pallets"))
    say(edited, cast.dana, "edit", edited=refund(124_000, note="two\u200b pallets, " + "wet " * 40))
    paths = {"pending": at(edited), "result": at(edited) + "?view=result", "edit": at(edited, "/edit")}
    paths["json"] = at(edited, "/edit?mode=json")
    for outcome in ("executed", "failed", "unknown"):
        done = ask(cast, refund())
        say(done, cast.dana, "approve", message="Fine.")
        with rows.within(cast.northwind):
            told = {"note": "503", "checkpoint_mac": ""}
            outcomes.report(cast.northwind.pk, done.chain, done.subject, outcome, **told)
        paths[outcome] = at(done)
    rejected = ask(cast, refund())
    say(rejected, cast.dana, "reject", message="No.")
    paths |= {"rejected": at(rejected), "inbox": "/w/northwind/", "settled": "/w/northwind/?tab=settled"}
    paths |= {
        "empty": "/w/northwind/?tab=voted",
        "ledger": "/w/northwind/ledger",
        "entries": "/w/northwind/ledger/entries",
        "runs": "/w/northwind/runs",
    }
    paths |= {name: f"/w/northwind/{name}" for name in ("ledger/verification", "oversight", "retention")}
    paths["erasing"] = f"/w/northwind/retention/person?person={cast.dana.public_id}"
    return paths | {"nothing": "/w/northwind/nothing"}


@pytest.mark.lasts(45)
def test_axe_finds_nothing(cast: Cast, page_as: Any) -> None:
    found: dict[str, list[str]] = {}
    people.grant(cast.priya, "administer", cast.northwind, by="system")
    page = page_as(cast.priya, reduced_motion="reduce")
    for name, path in states(cast).items():
        page.goto(path)
        found |= {name: lines} if (lines := problems_in_both(page)) else {}
    for name in REFUSALS:
        page.set_content(get_template(f"{name}.html").render())
        found |= {name: lines} if (lines := problems_in_both(page)) else {}
    stranger = page_as(None, reduced_motion="reduce")
    stranger.goto("/")
    found |= {"sign-in": lines} if (lines := problems_in_both(stranger)) else {}
    assert found == {}
