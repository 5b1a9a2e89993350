"""A whole Placet in a throw-away place: servers, the refund desk, web, workers and sweep, and this process beside them.

Nothing of Django is imported before the stage is open: its settings are read from the environment made here.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import yaml

from runtime.children import CannotStart, tail
from runtime.embedded import Servers
from runtime.home import Home
from runtime.ports import free_port
from runtime.stack import BASE, Stack, of_the_demo
from tests.campaigns.recorder import Recorder

WORKSPACE: Final = "northwind"
DANA: Final = "dana@northwind.example"
PRIYA: Final = "priya@northwind.example"
OPERATOR: Final = "omar@northwind.example"
RULES: Final[list[dict[str, Any]]] = [
    {"id": f"campaign-{tool.replace('_', '-')}", "match": {"tool": f"campaign.{tool}"}, "verdict": verdict, **more}
    for tool, verdict, more in (
        ("slow", "allow", {}),
        ("note", "require_approval", {"approvals": [{"team": "finance"}], "deadline": "2d"}),
        ("pair", "require_approval", {"approvals": [{"team": "finance", "count": 2}], "deadline": "2d"}),
        ("once", "require_approval", {"approvals": [{"team": "finance"}], "deadline": "2d"}),
        ("model", "allow", {}),
        ("do_pure", "allow", {}),
        *(
            (f"do_{effect}", "require_approval", {"approvals": [{"team": "finance"}], "deadline": "2d"})
            for effect in ("keyed", "natural", "lookup", "unsafe")
        ),
        ("brief", "require_approval", {"approvals": [{"team": "finance"}], "deadline": "1s"}),
    )
]
"""What policy says of the campaigns' own tools, after the rules of the refund desk."""


def tell(line: str) -> None:
    """Progress, for whoever watches."""
    print(line, file=sys.stderr, flush=True)


class Stage:
    """The place and its processes: `stack` starts and kills them, `recorder` is an endpoint that notes every call.

    Entering makes everything but starts only database and broker; leaving stops and removes everything.
    """

    stack: Stack
    recorder: Recorder

    def __init__(self, *, keep_logs: Path | None = None) -> None:
        self.keep_logs = keep_logs
        self._after = ExitStack()

    def __enter__(self) -> Stage:
        try:
            self._open()
        except BaseException:
            self._after.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._after.close()

    def _open(self) -> None:
        tell("Making a Placet in a throw-away place …")
        self.home = Path(tempfile.mkdtemp(prefix="placet-campaign-"))
        self._after.callback(shutil.rmtree, self.home, ignore_errors=True)
        self.home.chmod(0o711)
        home = Home(self.home)
        home.open()
        keys = home.keys()  # drawn before there is any data for them to seal
        self._after.callback(self._save_logs)
        self.servers = Servers(self.home)
        self._after.callback(self.servers.erase)
        self.servers.start()
        self.recorder = self._after.enter_context(Recorder())
        extra, allowed = of_the_demo(self.home)
        addresses = {"PLACET_ALLOW_ADDRESSES": f"{allowed},{self.recorder.address}"}
        environment = {"PLACET_ENV": "demo", **keys, **self.servers.environment(), **addresses}
        self._adopt(environment)
        self.stack = Stack(self.home, environment, port=free_port(), extra=extra, servers=self.servers)
        self._after.callback(self.stack.stop)
        self.manage("migrate", "--no-input", "--verbosity", "0")
        self._furnish()

    def _adopt(self, values: dict[str, str]) -> None:
        """Make this process one of Placet's, as a command is."""
        for name in ("PORT", "PLACET_CRASH_AT", "PLACET_HOSTS"):
            os.environ.pop(name, None)
        place = {"PLACET_HOME": str(self.home), "PLACET_PROCESS": "command", "PLACET_LOG_LEVEL": "WARNING"}
        os.environ.update(values | place | {"DJANGO_SETTINGS_MODULE": "runtime.settings"})
        import django

        django.setup()

    def _furnish(self) -> None:
        """The refund desk, with the campaigns' tools and the rules for them; here, for a process more takes seconds."""
        from django.core.management import call_command

        call_command("demo", stdout=StringIO())
        policy = yaml.safe_load((BASE / "runtime" / "demo" / "policy.yaml").read_text("utf-8"))
        policy["rules"] += RULES
        file = self.home / "policy.yaml"
        file.write_text(yaml.safe_dump(policy), "utf-8")
        call_command("policy", "load", str(file), workspace=WORKSPACE, by=OPERATOR, stdout=StringIO())
        from approvals import rows
        from tests.campaigns import furniture

        rows.enter(furniture.workspace())  # what this process asks of the database, it asks there
        furniture.furnish(self)

    def manage(self, *words: str) -> str:
        """Run a command of `manage.py`; its output. Raises CannotStart with what it said if it fails."""
        done = self.stack.manage(*words)
        if done.returncode:
            raise CannotStart(f"manage.py {words[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
        return done.stdout

    def verify_ledger(self) -> list[str]:
        """What `ledger verify` has against the chains, a line each; nothing if they are as they were written."""
        done = self.stack.manage("ledger", "verify")
        return [line for line in done.stdout.splitlines() if line.strip()] or [done.stderr] if done.returncode else []

    def log_of(self, name: str) -> str:
        """What a process wrote so far."""
        file = self.stack.log / f"{name}.log"
        return file.read_text("utf-8", "replace") if file.exists() else ""

    def start(self, *names: str) -> None:
        """Start processes, all if none is named, and wait until Placet is well. Raises CannotStart."""
        self.stack.start(*names)
        if not self.stack.wait_healthy(90):
            logs = "\n".join(tail(log, lines=10) for log in sorted(self.stack.log.glob("*.log")))
            raise CannotStart(f"Placet does not get well: {self.stack.health() or 'web does not answer'}\n{logs}")

    def _save_logs(self) -> None:
        if self.keep_logs:
            shutil.copytree(self.home / "log", self.keep_logs, dirs_exist_ok=True)
