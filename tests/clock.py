"""The database's clock in tests: set forward, never waited for. The one that is installed cannot be set."""

from __future__ import annotations

from django.db import connection


def set_forward(seconds: float) -> None:
    """Set the clock so far ahead of the true time, for this connection and until its transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('placet.clock_offset', %s, true)", [str(round(seconds))])
