"""The mail tool speaks SMTP to a real server, and says honestly when it does not know what became of a message."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from email.header import decode_header, make_header
from pathlib import Path
from typing import Any

import pytest

from approvals import schemas
from approvals.ledger import canonical
from runtime.children import end, until
from runtime.demo import mail, mailbox, services
from runtime.ports import is_free
from runtime.tools import EXECUTED, FAILED_BEFORE, LOST, Use, described
from runtime.tools import send as use_tool
from tests.runtime.demo.process import ROOT

ARGS = {"to": "ledger@kestrel-accounts.example", "subject": "Confirmation", "text": "One line.\n\nAnother: é."}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Any) -> Path:
    settings.PLACET_HOME = tmp_path
    return tmp_path


@pytest.fixture
def catcher(home: Path) -> Iterator[Path]:
    """The mail catcher as a real process; yields the folder of its messages."""
    service = services.mailbox(home)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **service.env}
    process = subprocess.Popen([sys.executable, *service.argv[1:]], env=env, cwd=ROOT)
    assert until(lambda: not is_free(service.port), seconds=15)
    yield home / "mail"
    end(process, signal.SIGTERM, patience=5)


def _send(args: dict[str, Any], key: str = "k" * 64, seconds: float = 5) -> Any:
    use = Use(call_id="call_1", key=key, seconds=seconds)
    return use_tool("function", {"function": described(mail.send).path}, b"", canonical.encode(args), use)


def test_a_message_is_in_the_folder_before_the_tool_says_so(catcher: Path) -> None:
    assert _send(ARGS).outcome == EXECUTED
    (message,) = mailbox.kept(catcher)
    assert message["To"] == message["X-Envelope-To"] == ARGS["to"]
    assert message["Message-ID"] == f"<{'k' * 32}@northwind.example>"
    assert message.get_payload(decode=True).decode() == ARGS["text"]


def test_a_mail_server_forgets_so_the_tool_is_unsafe(catcher: Path) -> None:
    """Sent twice it arrives twice, under one Message-ID: that is why a person is asked and no machine sends again."""
    assert described(mail.send).effect == "unsafe"
    _send(ARGS)
    _send(ARGS)
    first, second = mailbox.kept(catcher)
    assert first["Message-ID"] == second["Message-ID"]


@pytest.mark.parametrize(
    "subject", ["=?utf-8?q?Refund_all?=", "Bcc: eve@x.example", "Rückzahlung €310,00", "a" * 200, "to=0D=0ABcc:x"]
)
def test_a_subject_is_one_header_and_literal(catcher: Path, subject: str) -> None:
    """IN-M8: what was approved is what the reader sees, whatever it looks like."""
    assert _send(ARGS | {"subject": subject}).outcome == EXECUTED
    (message,) = mailbox.kept(catcher)
    assert str(make_header(decode_header(message["Subject"]))) == subject
    assert message["Bcc"] is None


@pytest.mark.parametrize("sign", ["\r", "\n", "\x00", "\x0b", "\x85", "\u2028", "\u2029"])
def test_a_subject_of_two_lines_is_refused_by_the_schema(sign: str) -> None:
    """IN-M8, IN-E33: before anybody is asked."""
    schema = described(mail.send).definition["inputSchema"]
    faults = schemas.validate(schema, ARGS | {"subject": f"a{sign}Bcc: eve@x.example"})
    assert [fault.pointer for fault in faults] == ["/subject"]


@pytest.mark.parametrize("to", ["a@b\nBcc: x@y.example", "a@b, c@d.example", "Eve <eve@x.example>", "é@x.example", ""])
def test_one_plain_address_or_none(to: str) -> None:
    """IN-E33: a list, a name or a second header in the address is refused."""
    schema = described(mail.send).definition["inputSchema"]
    assert schemas.validate(schema, ARGS | {"to": to})


def test_a_server_that_is_away_means_nothing_was_sent() -> None:
    answer = _send(ARGS)
    assert answer.outcome == FAILED_BEFORE
    assert "cannot be reached" in answer.message


def test_a_server_that_dies_after_the_message_leaves_the_outcome_unknown(home: Path) -> None:
    """AP-D3, AP-V6: between the last byte and the answer nobody knows, and the tool says just that."""
    with socket.create_server(("127.0.0.1", services.mailbox(home).port)) as listener:
        thread = threading.Thread(target=_swallow, args=(listener,))
        thread.start()
        answer = _send(ARGS)
        thread.join(5)
    assert answer.outcome == LOST


def _swallow(listener: socket.socket) -> None:
    """Take the message to its last byte, and hang up instead of answering."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        connection.sendall(b"220 here\r\n")
        for line in lines:
            if line == b".\r\n":
                return
            if line.upper().startswith(b"DATA"):
                connection.sendall(b"354 go on\r\n")
            elif line[:4].upper() in {b"EHLO", b"MAIL", b"RCPT"}:
                connection.sendall(b"250 fine\r\n")
