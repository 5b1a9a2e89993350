from pathlib import Path

import pytest

from runtime.demo import services, shop


def test_the_tickets_cover_every_way_a_refund_can_go(tmp_path: Path) -> None:
    """Small, one person, two people, hidden text, and a wish that policy refuses."""
    tickets = shop.tickets(tmp_path)
    asked = [ticket["asks"] for ticket in tickets]
    assert any(cents <= 5000 for cents in asked)
    assert any(5000 < cents <= 100000 for cents in asked)
    assert any(cents > 100000 for cents in asked)
    assert any("\u200b" in ticket["note"] for ticket in tickets)
    assert any(ticket["close_account"] for ticket in tickets)
    assert all(ticket["asks"] <= ticket["charge"]["amount"] for ticket in tickets)


def test_an_added_ticket_has_a_charge_of_its_own(tmp_path: Path) -> None:
    made = shop.add(tmp_path, shop.ticket(tmp_path, "T-4466"), amount=999900)
    assert shop.ticket(tmp_path, made["number"]) == made
    charge = shop.charge(tmp_path, made["charge"]["id"])
    assert (charge["amount"], charge["customer"]) == (999900, "Ines Duarte")
    assert shop.charge(tmp_path, "ch_88197")["amount"] == 4470


def test_an_unknown_ticket_is_said_to_be_unknown(tmp_path: Path) -> None:
    with pytest.raises(shop.NoSuchTicket, match="T-1"):
        shop.ticket(tmp_path, "T-1")


def test_a_file_is_put_in_place_whole_and_private(tmp_path: Path) -> None:
    """A crash while writing leaves the old file; nobody else may read passwords."""
    shop.write(tmp_path / "a" / "b.json", "one")
    shop.write(tmp_path / "a" / "b.json", "two")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.json"]
    assert (tmp_path / "a" / "b.json").stat().st_mode & 0o777 == 0o600


def test_the_services_keep_their_port_and_secret(tmp_path: Path) -> None:
    """Approved calls that wait over a restart still find their endpoint."""
    first, again = services.payments(tmp_path), services.payments(tmp_path)
    assert first == again
    assert first.env == again.env
    assert services.services(tmp_path)[0] == first
    assert len({service.port for service in services.services(tmp_path)}) == 2


def test_a_port_that_a_stranger_took_is_replaced_and_the_secret_kept(tmp_path: Path) -> None:
    first = services.payments(tmp_path)
    moved = services.move_port(tmp_path, "payments")
    assert moved.port != first.port
    assert moved.env["PAYMENTS_SECRET"] == first.env["PAYMENTS_SECRET"]
    assert services.payments(tmp_path) == moved


def test_a_damaged_file_of_the_demo_is_named(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text("{")
    with pytest.raises(ValueError, match=r"demo\.json is damaged"):
        services.read(tmp_path)
