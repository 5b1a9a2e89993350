"""The page of absences: said for oneself or for others, by the reader's clock, and ended early."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from approvals import absences, rows
from approvals.deputies import Absence
from approvals.pages.clock import COOKIE
from tests.approvals.pages.test_person import words
from tests.cast import Cast
from tests.confirmed import confirmed

PAGE = "/w/northwind/absences"


def ahead(days: int) -> str:
    return f"{rows.now() + timedelta(days=days):%Y-%m-%dT18:00}"


def say(client: Client, **more: Any) -> Any:
    return client.post(PAGE, {"ends_at": ahead(3)} | more)


def test_somebody_says_that_they_are_away_and_who_stands_in(cast: Cast) -> None:
    dana = confirmed(cast.dana, ago=4000)
    assert say(dana, deputy=cast.riley.public_id, team=["finance"])["Location"] == PAGE
    page = words(dana.get(PAGE))
    assert "Dana Okafor is away; Riley Chen stands in for Finance" in page and "End it now" in page
    assert "End it now" not in words(confirmed(cast.priya).get(PAGE))


def test_times_are_by_the_readers_clock(cast: Cast) -> None:
    dana = confirmed(cast.dana)
    dana.cookies[COOKIE] = "America/New_York"
    say(dana, starts_at="", ends_at=(until := ahead(3)))
    told = Absence.objects.get().ends_at
    assert f"{told:%H:%M}" in {"22:00", "23:00"} and f"{told:%Y-%m-%d}" == until[:10]
    assert "By the clock of America/New_York." in words(dana.get(PAGE))


def test_seats_are_lent_by_somebody_who_stays(cast: Cast) -> None:
    say(confirmed(cast.dana), kind="lends", deputy=cast.riley.public_id)
    assert "Dana Okafor lends every seat to Riley Chen" in words(confirmed(cast.riley).get(PAGE))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ends_at": "soon"}, "Give a day and a time."),
        ({"ends_at": "2001-01-01T10:00"}, "It ends before it begins."),
        ({"deputy": "per_nobody"}, "Choose somebody who belongs to the workspace."),
        ({"kind": "lends"}, "Say to whom the seats are lent."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(more: dict[str, str], said: str, cast: Cast) -> None:
    answer = say(confirmed(cast.dana), **more)
    assert answer.status_code == 422 and said in words(answer) and 'aria-invalid="true"' in answer.content.decode()
    assert not Absence.objects.exists()


def test_who_administers_says_it_for_others_after_a_fresh_sign_in(cast: Cast) -> None:
    """WB-6."""
    late = confirmed(cast.omar, ago=4000)
    assert say(late, person=cast.dana.public_id)["Location"].startswith("/accounts/")
    say(confirmed(cast.omar), person=cast.dana.public_id)
    [one] = absences.standing(cast.northwind)
    assert one.person == cast.dana
    late.post(f"{PAGE}/{one.public_id}/end")
    assert absences.standing(cast.northwind) == [] and "Everybody is here" in words(late.get(PAGE))


def test_nobody_else_says_it_or_ends_it(cast: Cast) -> None:
    """AZ-1."""
    priya = confirmed(cast.priya)
    assert say(priya, person=cast.dana.public_id).status_code == 422
    say(confirmed(cast.dana))
    [one] = absences.standing(cast.northwind)
    assert priya.post(f"{PAGE}/{one.public_id}/end").status_code == 403
    assert absences.standing(cast.northwind) == [one]
