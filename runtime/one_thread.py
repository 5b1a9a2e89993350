"""Middleware: a request goes through all middleware in one thread.

Under ASGI each of Django's own middleware classes goes into a thread and back twice for every request, which together
takes as long as a page. One that is synchronous alone, and stands innermost, has the whole chain run synchronously:
into a thread once, and back once. Views that are asynchronous, and streams, still run on the loop.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_only_middleware

Answers = Callable[[HttpRequest], HttpResponseBase]


@sync_only_middleware
def one_thread(get_response: Answers) -> Answers:
    """Does nothing, in a thread."""
    return get_response
