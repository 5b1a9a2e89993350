"""The demo's mail catcher in a process of its own: `python -m runtime.demo.mailbox`.

A real SMTP server that delivers nothing: each message it accepts is a file in `var/mail/`, whole before the sender is
told so. As every mail server it takes a message that is sent twice for two messages.

Environment: MAILBOX_PORT, PLACET_HOME.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any, Final

from aiosmtpd.smtp import SMTP, Envelope, Session

from runtime.demo import shop

LARGEST: Final = 5 * 1024 * 1024


class Shelf:
    """Where messages are put."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Keep the message; what the sender is told is true only once the file is in place."""
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        head = [f"X-Envelope-From: {envelope.mail_from}", *(f"X-Envelope-To: {to}" for to in envelope.rcpt_tos)]
        message = "".join(f"{line}\n" for line in head).encode("utf-8", "replace") + content.replace(b"\r\n", b"\n")
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(2)}.eml"
        await asyncio.to_thread(shop.write, self.folder / name, message)
        return f"250 Kept as {name}"


def kept(folder: Path) -> list[Any]:
    """The messages on the shelf, oldest first, as `email.message.Message`."""
    return [message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*.eml"))]


async def serve(port: int, folder: Path) -> None:
    """Take messages until the process ends."""
    shelf = Shelf(folder)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(shelf, hostname="localhost", ident="Placet demo", data_size_limit=LARGEST, loop=loop),
        host="127.0.0.1",
        port=port,
    )
    async with server:
        await server.serve_forever()


def main() -> None:
    try:
        port, folder = int(os.environ["MAILBOX_PORT"]), Path(os.environ["PLACET_HOME"]) / "mail"
    except (KeyError, ValueError) as wrong:
        sys.exit(f"The mail catcher cannot start: {wrong}")
    try:
        asyncio.run(serve(port, folder))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
