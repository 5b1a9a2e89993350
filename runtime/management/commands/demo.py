"""`manage.py demo`: set the refund desk up, say who is there, or start one more run to try."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.ledger.printing import PlainCommand
from runtime.demo import opening, shop, tickets
from runtime.demo.desk import money

MOST = 100_000_000

CAST = (
    ("dana@northwind.example", "decides for Finance"),
    ("priya@northwind.example", "decides for Finance too"),
    ("riley@northwind.example", "asks: the desk works for her"),
    ("omar@northwind.example", "operates the desk, reads everything"),
    ("oskar@halden.example", "of another workspace: sees nothing of Northwind"),
)

TRY = """\
What to try
  Dana     open "Refund €310.00 to Brightwater Interiors", change the amount, save: it is approved and runs once.
  Dana     approve "Refund €1,240.00 to Halvorsen & Sons": large refunds need two, so it waits for Priya.
  Priya    approve it as well, and open the run to see what came of it.
  Anyone   look at the note of the refund to Tomáš Dvořák: it has a character nobody can see.
  Dana     read the mail to Kestrel Accounts before it leaves; it arrives in var/mail/.
  Omar     open Runs: the refund to Ines Duarte ran by policy, Mirko Vidal's account was not closed.
  More     manage.py demo ticket --amount 8050     one more refund to decide, in cents
           manage.py run log RUN                   what happened, in order, and with which key"""


class Command(PlainCommand):
    help = "Set up the refund desk: people, policy, tools, the agent and its tickets. Doing it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--show", action="store_true", help="say who is there, with passwords, and what to try")
        parser.add_argument("word", nargs="?", choices=["ticket"], help="start one more run")
        parser.add_argument("number", nargs="?", default="T-4471", help="the ticket that the new one is like")
        parser.add_argument("--without-run", action="store_true", help="write the ticket, and leave the run to others")
        parser.add_argument("--amount", type=int, metavar="CENTS", help="how much its customer asks for")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            if options["show"]:
                self._show()
            elif options["word"]:
                self._ticket(options["number"], options["amount"], without_run=options["without_run"])
            else:
                self._set_up()
        except (opening.NotOpen, shop.NoSuchTicket, ValueError) as fault:
            raise CommandError(str(fault)) from fault

    def _set_up(self) -> None:
        started = opening.open_desk()
        self.stdout.write(f"The refund desk is set up, with {len(started)} tickets.")

    def _show(self) -> None:
        known = opening.passwords()
        for email, part in CAST:
            self.stdout.write(f"{email:<24} {known[email]}   {part}")
        for line in ("", *TRY.splitlines()):
            self.stdout.write(line)

    def _ticket(self, number: str, amount: int | None, *, without_run: bool) -> None:
        if amount is not None and not 0 < amount <= MOST:
            raise CommandError(f"The amount is a whole number of cents from 1 to {MOST:,}.")
        like = shop.ticket(tickets.home(), f"T-{number.removeprefix('T-')}")
        made = shop.add(tickets.home(), like, amount=amount)
        if without_run:
            self.stdout.write(made["number"])
            return
        run = opening.start(made)
        asks = money(made["asks"], made["charge"]["currency"])
        self.stdout.write(f"{run.public_id}: ticket {made['number']}, {made['customer']} asks for {asks}.")
