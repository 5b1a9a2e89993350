"""The button that nudges, on the page of whoever waits; and the page on which people say when they work."""

from __future__ import annotations

import pytest

from approvals import hours
from approvals.due_steps import DueStep
from approvals.people import Person
from approvals.weeks import Week
from tests.approvals.pages.conftest import Reads, at
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
BUTTON = "Nudge them"
HOURS = "/accounts/hours/"


def test_whoever_waits_presses_once_and_sees_when_again(cast: Cast, reads: Reads) -> None:
    """RL-5: the story says who did, and whom it reached."""
    approval = ask(cast, refund(), requester=cast.riley)
    riley = reads(cast.riley)
    assert BUTTON in riley.get(at(approval)).content.decode()
    assert riley.post(at(approval, "/nudge"))["Location"] == at(approval) + "#nudge"
    page = riley.get(at(approval)).content.decode()
    assert BUTTON not in page and "You can do it again" in page
    assert "<b>You</b> nudged Dana Okafor, Priya Nair" in page
    again = riley.post(at(approval, "/nudge"))
    assert again.status_code == 429 and "It may be again from" in again.content.decode()


def test_who_decides_has_no_such_button(cast: Cast, reads: Reads) -> None:
    """AZ-2: nor gets through without it."""
    approval = ask(cast, refund(), requester=cast.riley)
    dana = reads(cast.dana)
    assert BUTTON not in dana.get(at(approval)).content.decode()
    refused = dana.post(at(approval, "/nudge"))
    assert refused.status_code == 403 and "Nobody was nudged." in refused.content.decode()
    assert not DueStep.objects.exists() and dana.get(at(approval, "/nudge")).status_code == 405


def test_what_was_decided_meanwhile_says_so(cast: Cast, reads: Reads) -> None:
    """RL-5."""
    approval = ask(cast, refund(), requester=cast.riley)
    say(approval, cast.dana, "approve")
    refused = reads(cast.riley).post(at(approval, "/nudge"))
    assert refused.status_code == 409 and BUTTON not in refused.content.decode()


def form(**more: str) -> dict[str, str]:
    return {"zone": "Europe/Berlin", "mon-from": "09:00", "mon-to": "17:30"} | more


def test_a_person_says_on_their_account_when_they_work(cast: Cast, reads: Reads) -> None:
    """RL-9: sees it again, and takes it back."""
    dana = reads(cast.dana)
    assert "reminders come at any time" in dana.get("/accounts/").content.decode()
    assert dana.post(HOURS, form())["Location"] == "/accounts/"
    assert hours.of(cast.dana) == Week("Europe/Berlin", {"mon": (540, 1050)})
    page = dana.get(HOURS).content.decode()
    assert 'value="Europe/Berlin"' in page and 'name="mon-to" value="17:30"' in page
    dana.post(HOURS, form(anytime="1"))
    assert hours.of(cast.dana) is None


@pytest.mark.parametrize(
    ("more", "fault", "told"),
    [
        ({"zone": "Mars/<b>"}, "zone-fault", "Mars/&lt;b&gt;"),
        ({"mon-to": ""}, "mon-to-fault", "such as 09:30"),
        ({"mon-to": "09:00"}, "mon-to-fault", "at which it begins"),
        ({"mon-from": "", "mon-to": ""}, "days-fault", "Name a day"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    cast: Cast, reads: Reads, more: dict[str, str], fault: str, told: str
) -> None:
    """RL-9: with what was typed, and nothing is kept."""
    answer = reads(cast.dana).post(HOURS, form(**more))
    page = answer.content.decode()
    assert answer.status_code == 422 and f'aria-describedby="{fault}"' in page and f'id="{fault}"' in page
    assert told in page and hours.of(cast.dana) is None
    assert more.get("zone") or 'value="Europe/Berlin"' in page


def test_nobody_else_comes_to_it(cast: Cast, reads: Reads) -> None:
    """WB-4: a stranger is sent to sign in."""
    nobody: Person | None = None
    assert reads(nobody).post(HOURS, form())["Location"].startswith("/accounts/login/")
