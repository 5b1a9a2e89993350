"""The processes that the demo adds to Placet's own, and the file that remembers what they and its people need.

`var/demo.json` (mode 600) holds the port and secret of the payments service and the people's passwords. It is written
before anything that depends on it, so that a start that was cut short finds what it began with. Standard library only:
the supervisor reads this before there is a database.
"""

import base64
import json
import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runtime.demo import shop
from runtime.ports import free_port

FILE: Final = "demo.json"


@dataclass(frozen=True)
class Service:
    """A process for the supervisor: run `argv` with `env` added; it listens on `port` of the loopback."""

    name: str
    argv: tuple[str, ...]
    port: int
    env: dict[str, str] = field(repr=False)

    @property
    def address(self) -> str:
        """What PLACET_ALLOW_ADDRESSES must name, so that a tool may reach it."""
        return f"127.0.0.1:{self.port}"


def read(home: Path) -> dict[str, Any]:
    """What `var/demo.json` holds, or nothing yet; raises ValueError if it cannot be read as JSON."""
    file = home / FILE
    if not file.exists():
        return {}
    try:
        held = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged. Move it away and start again: new passwords are made.") from error
    return held if isinstance(held, dict) else {}


def remember(home: Path, **parts: Any) -> dict[str, Any]:
    """Add to `var/demo.json` and put it in place whole."""
    held = {**read(home), **parts}
    shop.write(home / FILE, json.dumps(held, ensure_ascii=False, indent=2) + "\n")
    return held


def payments(home: Path) -> Service:
    """The payments service: its port and secret are drawn once, because approved calls name its address."""
    held = read(home).get("payments", {})
    secret = held.get("secret") or "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
    port = held.get("port") or free_port()
    if held != {"port": port, "secret": secret}:
        remember(home, payments={"port": port, "secret": secret})
    return Service(
        name="payments",
        argv=(sys.executable, "-m", "runtime.demo.payments"),
        port=port,
        env={"PAYMENTS_PORT": str(port), "PAYMENTS_SECRET": secret, "PLACET_HOME": str(home)},
    )


def mailbox(home: Path) -> Service:
    """The mail catcher: its port is drawn once."""
    port = read(home).get("mailbox", {}).get("port") or free_port()
    if read(home).get("mailbox") != {"port": port}:
        remember(home, mailbox={"port": port})
    return Service(
        name="mailbox",
        argv=(sys.executable, "-m", "runtime.demo.mailbox"),
        port=port,
        env={"MAILBOX_PORT": str(port), "PLACET_HOME": str(home)},
    )


def services(home: Path) -> list[Service]:
    """Every process of the demo, in the order to start them."""
    return [payments(home), mailbox(home)]


def move_port(home: Path, name: str) -> Service:
    """The named service on another port, because a stranger took its own.

    A call that was approved for the old address is then not sent: its tool has changed.
    """
    remember(home, **{name: {**read(home)[name], "port": free_port()}})
    return {service.name: service for service in services(home)}[name]
