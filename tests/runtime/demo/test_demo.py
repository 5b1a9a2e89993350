"""`manage.py demo`: once, twice, and after being killed half-way."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals.ledger import entries
from approvals.people import Person, Team, Workspace, deciders, may
from approvals.policies import Policy
from runtime.definitions import Agent, Tool
from runtime.demo import opening, services, shop
from runtime.runs import Run
from tests.standing import come_to

pytestmark = pytest.mark.django_db


def set_up() -> None:
    """The demo, by its command; the test stands in the desk's workspace then."""
    call_command("demo", stdout=StringIO())
    come_to("northwind")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Any) -> Path:
    """A home of its own, whose payments service may be reached."""
    settings.PLACET_HOME = tmp_path
    settings.PLACET_ALLOW_ADDRESSES = {services.payments(tmp_path).address}
    return tmp_path


def _counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Person, Workspace, Team, Policy, Tool, Agent, Run, entries.Entry))


def test_it_sets_up_people_policy_tools_agent_and_a_run_for_each_ticket(home: Path) -> None:
    set_up()
    northwind = come_to("northwind")
    finance = Team.objects.get(workspace=northwind, slug="finance")
    omar, oskar = (Person.objects.get(email=email) for email in ("omar@northwind.example", "oskar@halden.example"))
    assert [person.name for person in deciders(finance)] == ["Dana Okafor", "Priya Nair"]
    assert may(omar, "operate", Agent.objects.get(name="refund-desk"))
    assert not may(oskar, "audit", northwind)
    assert Run.objects.filter(workspace=northwind).count() == len(shop.tickets(home / "demo"))


def test_twice_is_as_once() -> None:
    """AP-A4: tickets are not asked about again at every start."""
    set_up()
    before = _counts()
    set_up()
    assert _counts() == before


@pytest.mark.parametrize("part", ["_people", "_policy", "_tools", "start"])
def test_what_was_killed_half_way_is_made_whole(home: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """AP-U1: whichever part was reached, the next start completes it and the passwords are those that were shown."""
    with monkeypatch.context() as cut:
        cut.setattr(opening, part, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            set_up()
    told = services.read(home)["people"]
    set_up()
    assert services.read(home)["people"] == told
    assert all(Person.objects.get(email=email).check_password(password) for email, password in told.items())
    assert Run.objects.count() == len(shop.tickets(home / "demo"))


def test_what_people_changed_stays_changed(home: Path) -> None:
    """A second start takes no right back and puts no other policy in force."""
    set_up()
    call_command("people", "revoke", "dana@northwind.example", "decide", "team:finance", workspace="northwind")
    (home / "mine.yaml").write_text("policy: 1\nrules: []\n")
    call_command("policy", "load", str(home / "mine.yaml"), workspace="northwind", stdout=StringIO())
    set_up()
    assert [person.name for person in deciders(Team.objects.get(workspace__slug="northwind"))] == ["Priya Nair"]
    assert Policy.objects.order_by("-version")[0].rules == []


def test_lost_passwords_are_drawn_anew(home: Path) -> None:
    set_up()
    kept = services.read(home)["payments"]
    shop.write(home / "demo.json", json.dumps({"payments": kept}))
    set_up()
    dana = Person.objects.get(email="dana@northwind.example")
    assert dana.check_password(services.read(home)["people"][dana.email])


def test_show_names_everyone_with_a_password_that_works(home: Path) -> None:
    set_up()
    said = StringIO()
    call_command("demo", show=True, stdout=said)
    for email, password in services.read(home)["people"].items():
        assert f"{email:<24} {password}" in said.getvalue()
    assert (home / "demo.json").stat().st_mode & 0o777 == 0o600


def test_one_more_ticket_is_one_more_run(home: Path) -> None:
    set_up()
    said = StringIO()
    call_command("demo", "ticket", "4466", amount=999900, stdout=said)
    assert "Ines Duarte asks for €9,999.00" in said.getvalue()
    assert said.getvalue().startswith(Run.objects.order_by("-created_at")[0].public_id)
    set_up()
    assert Run.objects.count() == len(shop.tickets(home / "demo"))


def test_a_ticket_can_be_written_for_a_run_that_somebody_else_starts(home: Path) -> None:
    set_up()
    before, said = Run.objects.count(), StringIO()
    call_command("demo", "ticket", without_run=True, stdout=said)
    assert shop.ticket(home / "demo", said.getvalue().strip())["customer"] == "Brightwater Interiors"
    set_up()
    assert Run.objects.count() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [(("ticket", "T-1"), "no ticket"), (("ticket", "T-4466", "--amount", "0"), "whole number of cents")],
)
def test_a_ticket_that_cannot_be_is_refused_in_a_sentence(words: tuple[str, ...], told: str) -> None:
    set_up()
    with pytest.raises(CommandError, match=told):
        call_command("demo", *words, stdout=StringIO())


def test_a_ticket_before_the_set_up_says_what_to_run() -> None:
    with pytest.raises(CommandError, match=r"manage\.py demo"):
        call_command("demo", "ticket", stdout=StringIO())


def test_a_moved_port_is_a_new_version_of_the_tools(home: Path, settings: Any) -> None:
    """BD-6: what was approved for another address is not sent to this one."""
    set_up()
    settings.PLACET_ALLOW_ADDRESSES = {services.move_port(home, "payments").address}
    set_up()
    versions = Tool.objects.filter(name="payments.create_refund").order_by("version")
    assert [(tool.version, tool.is_active) for tool in versions] == [(1, False), (2, True)]
