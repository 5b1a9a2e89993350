"""`bin/bench inbox`: inbox, review page and ledger of a workspace with 100,000 approvals, 200 people and 50 teams.

Statements are counted where they arrive, in the database's own log, and must be as many as when the workspace was
nearly empty. Then the ledger is verified, from the bytes that are stored.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from runtime.stack import BASE
from tests.campaigns import crowd
from tests.campaigns.figures import milliseconds
from tests.campaigns.stage import Stage, tell
from tests.campaigns.visitors import Visitor

APPROVALS: Final = 100_000
FILLERS: Final = 3
READERS: Final = 5
REQUESTS: Final = 60
"""So many of each page are asked for."""
FEW: Final = 200
"""So many there are when the statements are counted first."""
MOST_MS: Final = 100
LEAST_ENTRIES: Final = 20_000
STATEMENT: Final = re.compile(r"placet web .*(?:statement|execute [^:]*): (?!BEGIN|COMMIT|ROLLBACK|SET )")

Page = Callable[[Visitor, random.Random], str]


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Fill, read, verify; ok when every page is quick, costs what it cost when there was nothing, and the ledger is
    verified quickly."""
    count, requests, rng = options.n or APPROVALS, options.rounds or REQUESTS, random.Random(options.seed)
    stage.start()
    readers = gather(stage)
    few = min(FEW, count // 2)
    fill(stage, few)
    before = {name: statements(stage, page, readers, rng) for name, page in PAGES.items()}
    tell(f"{count} approvals are asked for, and most are settled …")
    filled = fill(stage, count - few)
    with stage.servers.postgres.connect("placet") as admin:
        admin.execute("VACUUM (ANALYZE)")
    after = {name: statements(stage, page, readers, rng) for name, page in PAGES.items()}
    tell(f"Filled in {filled:.0f} s; {requests} of each page …")
    medians = {name: median(page, readers, rng, requests) for name, page in PAGES.items()}
    entries, seconds, whole = verified()
    rate = round(entries / seconds)
    figures: dict[str, Any] = {"requests": requests * len(PAGES), "approvals": count, "fill_s": round(filled)}
    figures |= {f"{name}_p50_ms": took for name, took in medians.items()}
    figures |= {"queries": after, "queries_when_empty": before, "ledger_entries": entries, "ledger_entries_per_s": rate}
    figures["ledger_and_rows_s"] = round(whole)
    slow = [name for name, took in medians.items() if took >= MOST_MS]
    more = [name for name in PAGES if after[name] > before[name]]
    missed = slow + [f"{name}_queries" for name in more] + (["ledger"] if rate < LEAST_ENTRIES else [])
    return not missed, figures | {"missed": missed}


# Filling


def gather(stage: Stage) -> list[Visitor]:
    """Make the workspace, its people and its policy; some of its people, signed in."""
    password = secrets.token_urlsafe(12)
    words = stage.home / "crowd.json", stage.home / "crowd-passwords.json", stage.home / "crowd-policy.json"
    passwords = {"people": {crowd.email(number): password for number in range(READERS)}}
    for file, value in zip(words, (crowd.cast(), passwords, crowd.policy()), strict=True):
        file.write_text(json.dumps(value), "utf-8")
    stage.manage("people", "load", str(words[0]), "--passwords", str(words[1]))
    stage.manage("policy", "load", str(words[2]), "--workspace", crowd.SLUG)
    readers = [Visitor(stage.stack.url, crowd.SLUG, crowd.email(number), password) for number in range(READERS)]
    for reader in readers:
        reader.sign_in()
    return readers


def fill(stage: Stage, count: int) -> float:
    """Fill with several processes; how many seconds it took."""
    began, share = time.perf_counter(), -(-count // FILLERS)
    env = {**stage.stack.environment, "PLACET_PROCESS": "command", "PLACET_LOG_LEVEL": "ERROR"}
    words = [[sys.executable, "-c", crowd.FILL, str(share), str(count + number)] for number in range(FILLERS)]
    fillers = [subprocess.Popen(each, cwd=BASE, env=env) for each in words]
    assert [each.wait() for each in fillers] == [0] * FILLERS, "the workspace could not be filled"
    file_entries()
    return time.perf_counter() - began


def file_entries() -> None:
    """Put every entry where the ledger's page finds it: the clock went back and forth, and nobody waits for an hour."""
    from approvals import filing, gate

    workspace = gate.workspace_named(crowd.SLUG)
    assert workspace is not None
    since = filing.file_since(workspace.pk, None, filing.MANY)
    while since is not None:
        since = filing.file_since(workspace.pk, since, filing.MANY)


# Pages


def _inbox(reader: Visitor, rng: random.Random) -> str:
    return f"/w/{crowd.SLUG}/?tab={rng.choice(('for-you', 'others', 'voted', 'settled'))}"


def _review(reader: Visitor, rng: random.Random) -> str:
    from approvals import gate, rows
    from approvals.approvals import Approval

    workspace = gate.workspace_named(crowd.SLUG)
    assert workspace is not None
    with rows.within(workspace):
        open_ones = list(Approval.objects.filter(workspace=workspace, status="pending").order_by("pk")[:100])
    return reader.path(rng.choice(open_ones).public_id)


def _history(reader: Visitor, rng: random.Random) -> str:
    filters = ("", "?verdict=approved", f"?tool={crowd.tool(rng.randrange(crowd.TEAMS))}", "?order=oldest", "?size=100")
    return f"/w/{crowd.SLUG}/ledger{rng.choice(filters)}"


def _entries(reader: Visitor, rng: random.Random) -> str:
    filters = ("", "?verdict=reject", f"?tool={crowd.tool(rng.randrange(crowd.TEAMS))}", "?channel=web", "?size=100")
    return f"/w/{crowd.SLUG}/ledger/entries{rng.choice(filters)}"


PAGES: Final[dict[str, Page]] = {"inbox": _inbox, "review": _review, "history": _history, "entries": _entries}


def median(page: Page, readers: list[Visitor], rng: random.Random, requests: int) -> float:
    """The median time of a page in milliseconds, as these readers ask for it in turn."""
    taken = [asked(page, readers[number % len(readers)], rng) for number in range(requests)]
    return milliseconds(statistics.median(taken))


def asked(page: Page, reader: Visitor, rng: random.Random) -> float:
    """Seconds until a page is there."""
    path = page(reader, rng)
    began = time.perf_counter()
    answer = reader.client.get(path)
    took = time.perf_counter() - began
    assert answer.status_code == 200, f"{path}: {answer.status_code}"
    return took


def statements(stage: Stage, page: Page, readers: list[Visitor], rng: random.Random) -> int:
    """The most statements that a page takes."""
    for reader in readers * 2:
        asked(page, reader, rng)  # connections, and what a process remembers
    with logged(stage):
        return max(_counted(stage, lambda: asked(page, readers[0], rng)) for _ in range(12))


def _counted(stage: Stage, ask: Callable[[], object]) -> int:
    before = len(stage.log_of("postgres"))
    ask()
    return len(STATEMENT.findall(stage.log_of("postgres")[before:]))


@contextmanager
def logged(stage: Stage) -> Iterator[None]:
    """The database writes every statement into its log."""
    with stage.servers.postgres.connect() as admin:
        admin.execute("ALTER SYSTEM SET log_statement = 'all'")
        admin.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)  # there is nothing to wait for: each session hears of it between two statements
        try:
            yield
        finally:
            admin.execute("ALTER SYSTEM RESET ALL")
            admin.execute("SELECT pg_reload_conf()")


# The ledger


def verified() -> tuple[int, float, float]:
    """How many entries of the workspace's chains were verified, in how many seconds; and in how many everything."""
    from approvals import gate
    from approvals.ledger import verify

    workspace = gate.workspace_named(crowd.SLUG)
    assert workspace is not None
    began, entries, took = time.perf_counter(), 0, 0.0
    for verdict in verify.verify_workspace(workspace.pk):
        assert not verdict.findings, verdict
        if verdict.chain:
            entries, took = entries + verdict.entries, time.perf_counter() - began
    return entries, took, time.perf_counter() - began
