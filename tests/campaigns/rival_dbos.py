"""DBOS as a rival: `python -m tests.campaigns.rival_dbos DSN N BYTES`, one workflow of so many steps, each of which
returns a message. Prints its seconds and the bytes by which its tables grew."""

from __future__ import annotations

import json
import logging
import sys
import time

import psycopg
from dbos import DBOS

from tests.campaigns.growth import text
from tests.campaigns.rivals import grown


@DBOS.step()
def step(size: int, number: int) -> dict[str, str]:
    return {"role": "assistant", "text": text(size, number)}


@DBOS.workflow()
def flow(steps: int, size: int) -> int:
    for number in range(steps):
        step(size, number)
    return steps


def main(dsn: str, steps: int, size: int) -> None:
    DBOS(config={"name": "bench", "system_database_url": dsn, "log_level": "ERROR", "run_admin_server": False})
    DBOS.launch()
    logging.getLogger("dbos").setLevel(logging.ERROR)
    with psycopg.connect(dsn, autocommit=True) as admin:
        flow(20, size)
        before, began = grown(admin, "dbos.%"), time.perf_counter()
        flow(steps, size)
        seconds = time.perf_counter() - began
        bytes_grown = grown(admin, "dbos.%") - before
    print(json.dumps({"seconds": seconds, "bytes": bytes_grown}), flush=True)
    DBOS.destroy()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
