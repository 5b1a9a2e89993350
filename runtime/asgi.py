"""What uvicorn serves."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections

os.environ.setdefault("PLACET_PROCESS", "web")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "runtime.settings")


class InOneThread(ASGIHandler):
    """Takes a request through middleware and view in one thread. Django's own takes it into a thread and back twice for
    each of its middleware classes, which together takes as long as a page. Streams still run on the loop."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)
        chain: Any = self._middleware_chain  # type: ignore[has-type] # Django's own has none
        self._middleware_chain = sync_to_async(chain, thread_sensitive=True)


django.setup(set_prefix=False)
application = InOneThread()


def _refuse_wrong_keys() -> None:
    """In a thread of its own: the server imports this module within its loop, where Django asks no database."""
    from runtime.checks import refuse_wrong_keys

    with ThreadPoolExecutor(1) as apart:
        apart.submit(refuse_wrong_keys).result()
        apart.submit(connections.close_all).result()


_refuse_wrong_keys()
