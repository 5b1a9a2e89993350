"""A real SMTP server in a thread, which keeps what it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiosmtpd.controller import Controller

from runtime.children import until
from runtime.ports import free_port


class Mailbox:
    """What was sent, oldest first."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.letters.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def wait(self, count: int = 1) -> EmailMessage:
        """The last letter, once there are so many."""
        assert until(lambda: len(self.letters) >= count, seconds=10), f"{len(self.letters)} letters came"
        return self.letters[-1]


def token_in(letter: EmailMessage) -> str:
    """The secret in the letter's link."""
    [address] = re.findall(r"http\S+token=\S+", letter.get_content())
    return parse_qs(urlsplit(address).query)["token"][0]


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A mail server that Placet is told of."""
    box, port = Mailbox(), free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    settings.PLACET_MAIL, settings.EMAIL_HOST, settings.EMAIL_PORT = True, "127.0.0.1", port
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    yield box
    controller.stop()
