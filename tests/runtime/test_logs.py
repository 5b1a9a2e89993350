"""What is logged: one line an event, no longer than we choose, whatever a stranger sends."""

from __future__ import annotations

import json
import logging

import structlog

from runtime import logs


def line(message: str, *args: object) -> str:
    """What a record of any library becomes."""
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=logs.SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.dev.ConsoleRenderer(False)],
    )
    return formatter.format(logging.LogRecord("x", logging.WARNING, "x", 1, message, args, None))


def test_a_stranger_does_not_choose_how_much_is_logged() -> None:
    """A path of 5,000 characters, a long host or request id: each is cut, and what was cut says so."""
    assert len(line("GET /%s", "x" * 5000)) < 700 and "…" in line("GET /%s", "x" * 5000)
    told = logs.bounded(None, "info", {"event": "request_finished", "request": "GET /" + "x" * 5000, "code": 404})
    assert len(json.dumps(told)) < 700 and told["code"] == 404


def test_a_path_makes_no_second_line() -> None:
    """The end of a line in a path is an escape in the log: nobody writes lines of their own."""
    assert "\n" not in line("GET /%s", "a\n2026-01-01 all is well\x1b[31m").strip()
    assert logs.bounded(None, "info", {"event": "x", "exception": "a\nb" * 500})["exception"] == "a\nb" * 500
