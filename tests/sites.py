"""A real web server on the test's own database."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import uvicorn

from runtime.children import until
from runtime.ports import free_port


@pytest.fixture
def site(committed_db: str) -> Iterator[str]:
    """Placet served by uvicorn on the test's own database, in a thread; yields its address, like http://localhost:21000."""
    from runtime.asgi import application

    port = free_port()
    options = uvicorn.Config(application, port=port, lifespan="off", log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert until(lambda: server.started, seconds=10)
    yield f"http://localhost:{port}"
    server.should_exit = True
    thread.join(10)
