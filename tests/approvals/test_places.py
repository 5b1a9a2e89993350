"""What stands in the bar of every page."""

from __future__ import annotations

import pytest

from approvals import places
from tests.cast import Cast


def test_places_stand_in_their_order(cast: Cast) -> None:
    shown = list(places.of(cast.northwind, cast.dana))
    assert [one.key for one in shown] == sorted((one.key for one in shown), key=places.ORDER.index)
    assert {"inbox", "runs"} <= {one.key for one in shown}
    assert shown[0].address == "/w/northwind/"


def test_a_place_without_an_order_is_refused() -> None:
    with pytest.raises(ValueError, match="cellar"):
        places.add(places.Place("cellar", "Cellar", "inbox"))
    assert "cellar" not in places.PLACES


def test_a_place_is_for_those_who_see_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = places.Place("attention", "Attention", "inbox", seen=lambda _, person: person == cast.dana)
    monkeypatch.setitem(places.PLACES, "attention", mine)
    assert "attention" in {one.key for one in places.of(cast.northwind, cast.dana)}
    assert "attention" not in {one.key for one in places.of(cast.northwind, cast.riley)}
