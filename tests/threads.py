"""Running functions at the same instant, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from django.db import connections


def together(*functions: Callable[[], Any], seconds: float = 30) -> list[Any]:
    """Run the functions at the same instant; results in order, an exception as the value it is.

    Raises TimeoutError when one has not ended after `seconds`.
    """
    barrier = threading.Barrier(len(functions))

    def run(function: Callable[[], Any]) -> Any:
        try:
            connections["default"].ensure_connection()
            barrier.wait(seconds)
            return function()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(functions)) as pool:
        # Each stands where the caller stands.
        futures = [pool.submit(copy_context().run, run, function) for function in functions]
        return [future.result(seconds) for future in futures]
