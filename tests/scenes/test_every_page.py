"""Every state of every page holds to WCAG 2.2 AA, as far as a program can tell, in every look; nothing scrolls
sideways; no code of the machine's stands for a word.

`bin/prove access` looks at all of them in all ways, `bin/screens` takes their pictures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.template.loader import get_template

from tests.cast import Cast
from tests.runtime import exhibits, gallery
from tests.runtime.conftest import Desk
from tests.scenes import places
from tests.scenes.looks import looks
from tests.scenes.sight import Sight

pytestmark = pytest.mark.committed
REFUSALS = ["400", "403", "403_csrf", "404", "429", "500", "503"]
"""The pages that say why there is no other."""


@pytest.mark.lasts(60)
@pytest.mark.usefixtures("heard")
def test_every_place_in_two_looks(cast: Cast, page_as: Any) -> None:
    sight = Sight(page_as)
    for (name, person, path, status), ways in zip(places.of(cast), looks(2), strict=False):
        sight.look(name, person, path, ways, status)
    assert not sight.found, sight.told()


@pytest.mark.lasts(60)
def test_every_state_of_the_machines_matters(desk: Desk, monkeypatch: Any, page_as: Any) -> None:
    sight = Sight(page_as)
    for (name, path), ways in zip(gallery.hang(desk, monkeypatch).items(), looks(1), strict=False):
        sight.look(name, desk.cast.omar, path, ways, 410 if name == "erased" else 200)
    assert not sight.found, sight.told()


@pytest.mark.lasts(60)
def test_every_state_of_a_decision(desk: Desk, monkeypatch: Any, page_as: Any) -> None:
    sight = Sight(page_as)
    for (name, person, path), ways in zip(exhibits.hang(desk, monkeypatch), looks(1), strict=False):
        live = path == exhibits.AS_IT_IS or name in exhibits.KEPT_OPEN
        sight.look(name, person, path, [replace(each, scripts=True) for each in ways] if live else ways)
    assert not sight.found, sight.told()


def test_every_refusal(page_as: Any) -> None:
    sight = Sight(page_as)
    for name, ways in zip(REFUSALS, looks(3), strict=False):
        sight.read(f"refusal-{name}", get_template(f"{name}.html").render(), ways)
    assert not sight.found, sight.told()
