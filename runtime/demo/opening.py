"""Setting the refund desk up: people, policy, tools, the agent, and one run for each ticket.

Every part can be done again and changes nothing the second time, so a start that was killed half-way is made again.
What people have changed since, they keep: who decides and the policy are only written the first time.
"""

from __future__ import annotations

import secrets
from io import StringIO
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import yaml
from django.conf import settings
from django.core.management import CommandError, call_command

from approvals import gate, rows
from runtime import definitions, runs
from runtime.demo import catalogue, desk, mail, services, shop, tickets
from runtime.demo.payments import secret_bytes
from runtime.runs import Run

WORKSPACE: Final = "northwind"
ASKS: Final = "riley@northwind.example"
OPERATES: Final = "omar@northwind.example"
HERE: Final = Path(__file__).parent
LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"


NOT_SET_UP: Final = "The refund desk is not set up here. Run: manage.py demo"


class NotOpen(Exception):
    """The demo has not been set up here: its workspace, its agent or one of its people is missing."""


def open_desk() -> list[Run]:
    """Make everything the demo needs and start its runs; returns them. Raises CommandError with a sentence."""
    home = Path(settings.PLACET_HOME)
    passwords()
    first = not (services.read(home)["set_up"] and gate.workspace_named(WORKSPACE))
    if first:
        services.remember(home, set_up=False)
        _people()
        _policy()
    with rows.reading(_workspace_id()):
        _tools()
        definitions.register_agent(_workspace_id(), desk.NAME, "graph", {"graph": desk.NAME}, by="system")
    if first:
        thing = f"runtime.agent:{desk.NAME}"
        call_command("people", "grant", OPERATES, "operate", thing, workspace=WORKSPACE, stdout=StringIO())
        services.remember(home, set_up=True)
    return [start(ticket) for ticket in shop.shipped()]


def start(ticket: dict[str, Any]) -> Run:
    """The run for a ticket, started once however often this is called. Raises NotOpen."""
    workspace, riley = gate.workspace_named(WORKSPACE), gate.person_named(ASKS)
    if workspace is None or riley is None:
        raise NotOpen(NOT_SET_UP)
    with rows.reading(workspace):
        agent = definitions.agent_named(workspace.pk, desk.NAME)
        if agent is None:
            raise NotOpen(NOT_SET_UP)
        return runs.start(
            workspace.pk,
            agent,
            input={"ticket": ticket["number"]},
            title=f"Ticket {ticket['number']}",
            by=riley.public_id,
            requester_id=riley.pk,
            key=f"demo:{ticket['number']}",
        )


def passwords() -> dict[str, str]:
    """Everybody's password by e-mail address, drawn once for this installation."""
    home = Path(settings.PLACET_HOME)
    known: dict[str, str] = services.read(home).get("people", {})
    cast = yaml.safe_load((HERE / "people.yaml").read_text("utf-8"))["people"]
    drawn = {who["email"]: known.get(who["email"]) or _draw() for who in cast}
    if drawn != known:
        services.remember(home, people=drawn, set_up=False)
    return drawn


def _draw() -> str:
    """Twelve letters and figures that cannot be mistaken for one another: 59 bits."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))


def _people() -> None:
    file = Path(settings.PLACET_HOME) / services.FILE
    call_command("people", "load", str(HERE / "people.yaml"), passwords=file, set_passwords=True, stdout=StringIO())


def _policy() -> None:
    """The desk's policy, unless somebody has put another one in force."""
    try:
        call_command("policy", "show", workspace=WORKSPACE, stdout=StringIO())
    except CommandError:
        file = str(HERE / "policy.yaml")
        call_command("policy", "load", file, workspace=WORKSPACE, by=OPERATES, stdout=StringIO())


def _tools() -> None:
    workspace_id = _workspace_id()
    service = services.payments(Path(settings.PLACET_HOME))
    secret = secret_bytes(service.env["PAYMENTS_SECRET"])
    offers = [
        definitions.offer(
            endpoint["definition"],
            kind="http",
            config={"url": f"http://{service.address}/tools/{endpoint['definition']['name']}"},
            effect=endpoint["effect"],
            summary=endpoint["summary"],
            risk=endpoint["risk"],
            secret=secret,
        )
        for endpoint in catalogue.ENDPOINTS
    ]
    definitions.register_offers(workspace_id, offers, by="system")
    for function in (tickets.read, tickets.reply, mail.send):
        definitions.register_function(workspace_id, function, by="system")


def _workspace_id() -> UUID:
    workspace = gate.workspace_named(WORKSPACE)
    if workspace is None:
        raise NotOpen(f"There is no workspace {WORKSPACE}.")
    return workspace.pk
