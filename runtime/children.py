"""Starting a child process that never outlives its parent, and ending it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1


class CannotStart(Exception):
    """Something cannot run; the message is a sentence that says what to do."""


def spawn(
    argv: Sequence[str | Path], *, log: Path, cwd: Path, env: Mapping[str, str], ending: signal.Signals, **how: Any
) -> subprocess.Popen[bytes]:
    """Start a process in its own session, its output appended to `log`; if we are killed outright, it gets `ending`.

    `how` may hold user, group and extra_groups. Call it from the main thread: Linux sends the signal when the thread
    that started the child ends.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            preexec_fn=_die_with_parent(ending),
            **how,
        )


def _die_with_parent(ending: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def arrange() -> None:
        prctl(PR_SET_PDEATHSIG, int(ending))
        if os.getppid() != parent:  # the parent died before we could ask for the signal
            os._exit(1)

    return arrange


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that has ended but that nobody has collected yet (a zombie) does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def end(process: subprocess.Popen[bytes], first: signal.Signals, *, patience: float) -> int:
    """Send `first`, wait `patience` seconds, then SIGKILL; returns the exit status."""
    if process.poll() is None:
        process.send_signal(first)
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def until(condition: Callable[[], bool], *, seconds: float, every: float = 0.05) -> bool:
    """Ask again and again until it holds; False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def tail(log: Path, since: int = 0, lines: int = 8) -> str:
    """The last lines of a log, for a message; nothing if there is none."""
    try:
        return "\n".join(log.read_bytes()[since:].decode("utf-8", "replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
