"""Letters: mail about a person's own account or a broken glass, over SMTP. Mail about approvals is a channel's."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from threading import Thread
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode

from approvals import rows
from approvals.people import Person

log = logging.getLogger(__name__)


def send(to: str, subject: str, template: str, told: dict[str, Any]) -> bool:
    """Send one letter of plain text; False, with a line in the log, where the server did not take it or none is
    named."""
    if not settings.PLACET_MAIL:
        return False
    text = render_to_string(f"letters/{template}.txt", told | {"site": settings.PLACET_URL})
    try:
        EmailMessage(
            subject, text, settings.DEFAULT_FROM_EMAIL, [to], headers={"Auto-Submitted": "auto-generated"}
        ).send()
    except (OSError, SMTPException) as fault:
        log.error("a letter was not taken by the mail server: %s", type(fault).__name__)
        return False
    return True


def link(name: str, token: str) -> str:
    """The whole address of a page with a one-time link. The token stands in the query string, which no log holds."""
    return f"{settings.PLACET_URL}{reverse(name)}?{urlencode({'token': token})}"


def tell_of_change(person: Person, what: str) -> None:
    """Tell somebody, once it is committed, that their sign-in was changed, so that they notice if it was not them."""
    told = {"first_name": person.first_name, "what": what}
    if not person.address_holds():
        log.error("%s was not told of a change: the address was not set by Placet", person.pk)
        return
    rows.after_commit(_apart, person.email, "Your sign-in to Placet was changed", "change", told)


def tell_all(addresses: list[str], subject: str, template: str, told: dict[str, Any]) -> None:
    """Send everybody the same, each a letter of their own, once it is committed."""
    rows.after_commit(lambda: Thread(target=_each, args=(addresses, subject, template, told), daemon=True).start())


def _each(addresses: list[str], subject: str, template: str, told: dict[str, Any]) -> None:
    for address in addresses:
        send(address, subject, template, told)


def _apart(*letter: Any) -> None:
    """Nobody waits for a mail server to learn that what they did is done."""
    Thread(target=send, args=letter, daemon=True).start()
