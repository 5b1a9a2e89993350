"""The payments service's books: one SQLite file in which an effect and the answer for its key are one commit."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runtime.demo import shop

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS call (
  id INTEGER PRIMARY KEY, tool TEXT NOT NULL, key TEXT, body_sha256 TEXT NOT NULL, received_at REAL NOT NULL,
  status INTEGER, replayed INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS call_by_key ON call (key);
CREATE TABLE IF NOT EXISTS answer (
  key TEXT PRIMARY KEY, request_sha256 TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS refund (
  id TEXT PRIMARY KEY, charge TEXT NOT NULL, amount INTEGER NOT NULL, currency TEXT NOT NULL, note TEXT NOT NULL,
  key TEXT, made_at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS refund_by_charge ON refund (charge);
CREATE TABLE IF NOT EXISTS closed (customer TEXT PRIMARY KEY, key TEXT, closed_at REAL NOT NULL);
"""


SYMBOLS: Final = {"EUR": "€", "GBP": "£"}


@dataclass(frozen=True)
class Answer:
    """What the service says: an HTTP status and a JSON object; `replayed` when the key had been answered before."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


def refusal(status: int, code: str, message: str) -> Answer:
    return Answer(status, {"error": {"code": code, "message": message}})


class Books:
    """Opened once per process; every verb uses a connection of its own, so that threads share nothing."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.file = home / "payments.sqlite3"
        with self._connection() as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(SCHEMA)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.file, timeout=30, isolation_level=None)
        db.row_factory = sqlite3.Row
        try:
            db.execute("PRAGMA synchronous=FULL")
            yield db
        finally:
            db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def receive(self, tool: str, key: str | None, body: bytes) -> int:
        """Count a call before anything else happens; returns its number."""
        with self._transaction() as db:
            row = db.execute(
                "INSERT INTO call (tool, key, body_sha256, received_at) VALUES (?, ?, ?, ?) RETURNING id",
                (tool, key, hashlib.sha256(body).hexdigest(), time.time()),
            ).fetchone()
            return int(row["id"])

    def settle(self, call: int, answer: Answer) -> None:
        """Note what a call that changed nothing was told."""
        with self._transaction() as db:
            _note(db, call, answer)

    def perform(self, call: int, tool: str, key: str | None, body: bytes) -> Answer:
        """Do what is asked, once per key. Effect, answer and count are one commit."""
        request = hashlib.sha256(tool.encode() + b"\n" + body).hexdigest()
        with self._transaction() as db:
            answer = _remembered(db, key, request) if key else None
            if answer is None:
                answer = self._effect(db, tool, key, body)
                if key:
                    db.execute(
                        "INSERT INTO answer (key, request_sha256, status, body) VALUES (?, ?, ?, ?)",
                        (key, request, answer.status, json.dumps(answer.body)),
                    )
            _note(db, call, answer)
            return answer

    def _effect(self, db: sqlite3.Connection, tool: str, key: str | None, body: bytes) -> Answer:
        try:
            args = json.loads(body)
        except (ValueError, RecursionError):
            return refusal(400, "bad_json", "The body is not JSON.")
        if not isinstance(args, dict):
            return refusal(400, "bad_json", "The body is not a JSON object.")
        try:
            return EFFECTS[tool](self.home, db, key, args)
        except shop.NoSuchCharge as missing:
            return refusal(404, "no_such_charge", str(missing))
        except (KeyError, TypeError):
            return refusal(422, "bad_arguments", "An argument is missing or of the wrong type.")

    def counts(self) -> dict[str, Any]:
        """What the service has seen and done, for whoever wants to check that nothing happened twice."""
        with self._connection() as db:
            db.execute("BEGIN")
            calls = db.execute("SELECT tool, key, received_at, status, replayed FROM call ORDER BY id").fetchall()
            refunds = db.execute("SELECT id, charge, amount, currency, key FROM refund ORDER BY made_at").fetchall()
            closed = db.execute("SELECT customer FROM closed ORDER BY closed_at").fetchall()
        return {
            "calls": len(calls),
            "refunds": len(refunds),
            "refunded": sum(row["amount"] for row in refunds),
            "closed": [row["customer"] for row in closed],
            "by_tool": _tally(row["tool"] for row in calls),
            "by_key": _by_key(calls, refunds),
        }

    def calls(self) -> list[dict[str, Any]]:
        """Every call in the order of its arrival."""
        with self._connection() as db:
            return [dict(row) for row in db.execute("SELECT * FROM call ORDER BY id")]


def _remembered(db: sqlite3.Connection, key: str, request: str) -> Answer | None:
    row = db.execute("SELECT request_sha256, status, body FROM answer WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    if row["request_sha256"] != request:
        return refusal(409, "key_reused", "This Idempotency-Key was used with another request.")
    return Answer(row["status"], json.loads(row["body"]), replayed=True)


def _note(db: sqlite3.Connection, call: int, answer: Answer) -> None:
    db.execute("UPDATE call SET status = ?, replayed = ? WHERE id = ?", (answer.status, answer.replayed, call))


def _tally(names: Iterator[str]) -> dict[str, int]:
    tally: dict[str, int] = {}
    for name in names:
        tally[name] = tally.get(name, 0) + 1
    return tally


def _by_key(calls: list[sqlite3.Row], refunds: list[sqlite3.Row]) -> dict[str, dict[str, Any]]:
    seen: dict[str, dict[str, Any]] = {}
    for call in calls:
        if call["key"]:
            entry = seen.setdefault(call["key"], {"tool": call["tool"], "calls": 0, "refunds": 0, "amount": 0})
            entry["calls"] += 1
    for refund in refunds:
        if refund["key"]:
            seen[refund["key"]]["refunds"] += 1
            seen[refund["key"]]["amount"] += refund["amount"]
    return seen


def _refunded(db: sqlite3.Connection, charge: str) -> int:
    return int(db.execute("SELECT coalesce(sum(amount), 0) FROM refund WHERE charge = ?", (charge,)).fetchone()[0])


def _get_charge(home: Path, db: sqlite3.Connection, key: str | None, args: dict[str, Any]) -> Answer:
    charge = shop.charge(home, args["charge"])
    return Answer(200, {**charge, "refunded": _refunded(db, charge["id"])})


def _preview_refund(home: Path, db: sqlite3.Connection, key: str | None, args: dict[str, Any]) -> Answer:
    charge, amount = shop.charge(home, args["charge"]), args["amount"]
    left = charge["amount"] - _refunded(db, charge["id"])
    code = charge["currency"]
    change = {"what": "Left to refund on this charge", "before": _money(left, code)}
    change["after"] = _money(left - amount, code) if amount <= left else "too little is left, it would be refused"
    paid = {"what": f"Given back to {args['customer']}", "after": _money(amount, code)}
    return Answer(200, {"changes": [change, paid]})


def _money(cents: int, code: str) -> str:
    return f"{SYMBOLS.get(code, f'{code} ')}{cents / 100:,.2f}"


def _create_refund(home: Path, db: sqlite3.Connection, key: str | None, args: dict[str, Any]) -> Answer:
    charge, amount = shop.charge(home, args["charge"]), args["amount"]
    if type(amount) is not int or amount < 1:
        return refusal(422, "bad_amount", "The amount is not a positive whole number of cents.")
    if args["currency"] != charge["currency"]:
        return refusal(422, "other_currency", f"The charge was made in {charge['currency']}.")
    left = charge["amount"] - _refunded(db, charge["id"])
    if amount > left:
        return refusal(422, "amount_too_large", f"Only {left} cents of this charge are left to refund.")
    refund = "re_" + hashlib.sha256(f"{key or time.time_ns()}".encode()).hexdigest()[:16]
    db.execute(
        "INSERT INTO refund (id, charge, amount, currency, note, key, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (refund, charge["id"], amount, charge["currency"], str(args.get("note", "")), key, time.time()),
    )
    made = {"refund": refund, "charge": charge["id"], "amount": amount, "currency": charge["currency"]}
    return Answer(200, {**made, "status": "succeeded"})


def _close_account(home: Path, db: sqlite3.Connection, key: str | None, args: dict[str, Any]) -> Answer:
    customer = str(args["customer"])
    db.execute("INSERT OR IGNORE INTO closed (customer, key, closed_at) VALUES (?, ?, ?)", (customer, key, time.time()))
    return Answer(200, {"customer": customer, "status": "closed"})


EFFECTS: Final = {
    "payments.get_charge": _get_charge,
    "payments.preview_refund": _preview_refund,
    "payments.create_refund": _create_refund,
    "payments.close_account": _close_account,
}
