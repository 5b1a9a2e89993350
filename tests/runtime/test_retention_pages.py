"""Retention from a page: only what was seen goes, by somebody who may, who proved it, and who typed it."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import people
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.confirmed import confirmed
from tests.runtime.conftest import Desk, call

pytestmark = pytest.mark.committed
PAGE = "/w/northwind/retention"


@pytest.fixture
def client(desk: Desk) -> Any:
    people.grant(desk.cast.omar, "administer", desk.cast.northwind, by="system")
    return confirmed(desk.cast.omar)


def press(client: Any, *runs: Run, **fields: str) -> Any:
    sent = {"run": [run.public_id for run in runs], "deed": "erase", "typed": "northwind"} | fields
    return client.post(PAGE, sent, follow=True)


def test_what_was_ticked_goes_and_nothing_else(desk: Desk, client: Any) -> None:
    first, second = (desk.begin([call("free.pure", number)]) for number in (1, 2))
    html = client.get(PAGE).content.decode()
    assert html.count('name="run"') == 2 and "Ticket 4471" in html and "2 of 2 ended runs" in html
    html = press(client, first).content.decode()
    assert "1 run is erased." in html and html.count('name="run"') == 1 and second.public_id in html
    first.refresh_from_db()
    assert first.erased_at and not Checkpoint.objects.filter(run=first).exclude(body=b"").exists()
    assert Checkpoint.objects.filter(run=second).exclude(body=b"").exists()


@pytest.mark.parametrize(("deed", "told"), [("prune", "1 run is pruned."), ("delete", "1 run is deleted.")])
def test_the_command_s_other_deeds_are_there_too(desk: Desk, client: Any, deed: str, told: str) -> None:
    run = desk.begin([call("free.pure", 1)], [call("free.pure", 2)])
    assert told in press(client, run, deed=deed).content.decode()
    assert Run.objects.filter(pk=run.pk).exists() is (deed == "prune")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"typed": "halden"}, "Type northwind, so that nothing goes by mistake."),
        ({"deed": "burn"}, "Choose what is to be done."),
        ({"run": "run_x"}, "Choose at least one run."),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_lost(desk: Desk, client: Any, fields: Any, told: str) -> None:
    run = desk.begin([call("free.pure", 1)])
    answer = press(client, run, **fields)
    assert answer.status_code == 422 and told in answer.content.decode()
    run.refresh_from_db()
    assert run.erased_at is None and f'value="{fields.get("typed", "northwind")}"' in answer.content.decode()


def test_a_run_that_goes_on_is_neither_listed_nor_erased(desk: Desk, client: Any) -> None:
    run = desk.begin([call("asked.keyed", 1)])
    assert "Nothing to let go of" in client.get(PAGE).content.decode()
    assert "still asks people" in press(client, run).content.decode()


def test_only_who_administers_and_confirmed_it_lets_go(desk: Desk, client: Any) -> None:
    run = desk.begin([call("free.pure", 1)])
    assert press(confirmed(desk.cast.dana), run).status_code == 403
    stale = confirmed(desk.cast.omar, ago=3600)
    answer = stale.post(PAGE, {"run": run.public_id, "deed": "erase", "typed": "northwind"})
    assert answer.status_code == 302 and "/accounts/confirm/" in answer["Location"]
    run.refresh_from_db()
    assert run.erased_at is None
