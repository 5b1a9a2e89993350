"""What uvicorn serves."""

import os
from concurrent.futures import ThreadPoolExecutor

from django.core.asgi import get_asgi_application
from django.db import connections

os.environ.setdefault("PLACET_PROCESS", "web")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "runtime.settings")

application = get_asgi_application()


def _refuse_wrong_keys() -> None:
    """In a thread of its own: the server imports this module within its loop, where Django asks no database."""
    from runtime.checks import refuse_wrong_keys

    with ThreadPoolExecutor(1) as apart:
        apart.submit(refuse_wrong_keys).result()
        apart.submit(connections.close_all).result()


_refuse_wrong_keys()
