"""Ports of the loopback: which are free, and where web listens."""

from __future__ import annotations

import random
import re
import socket
from typing import Final

from runtime.children import CannotStart

# Below the range from which the system draws ports for outgoing connections.
HIDDEN: Final = range(20_000, 32_000)
WEB: Final = range(8000, 8100)


def is_free(port: int) -> bool:
    """Whether nobody listens there, on either loopback: a browser tries ::1 first when it reads localhost."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    try:
        with socket.create_connection(("::1", port), timeout=1):
            return False
    except OSError:
        return True


def free_port(preferred: int = 0) -> int:
    """A port for a server that only we talk to: the preferred one if it is free, else any. Raises CannotStart."""
    candidates = ((preferred,) if preferred else ()) + tuple(random.SystemRandom().sample(HIDDEN, 50))
    for port in candidates:
        if is_free(port):
            return port
    raise CannotStart("No free port was found for the embedded servers.")


def choose_port(wanted: str) -> int:
    """Where web listens: PORT if it is set, else the first free port from 8000 on. Raises CannotStart."""
    if not wanted:
        for port in WEB:
            if is_free(port):
                return port
        raise CannotStart(f"The ports {WEB[0]} to {WEB[-1]} are all taken. Choose another: PORT=9000 bin/up")
    if not re.fullmatch(r"[0-9]{1,5}", wanted) or not 0 < int(wanted) < 65536:
        raise CannotStart(f"PORT is {wanted!r}; it must be a number from 1 to 65535.")
    if not is_free(int(wanted)):
        raise CannotStart(f"Port {wanted} is taken by another program. Choose another, or leave PORT unset.")
    return int(wanted)
