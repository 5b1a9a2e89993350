"""The modules whose code may be named by rows: tools and graphs exist only if a module that settings list registers
them."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from django.conf import settings


@cache
def load() -> None:
    """Import every module of ``settings.PLACET_MODULES``, once. Nothing is ever imported by a name that stands in a
    row."""
    for name in settings.PLACET_MODULES:
        import_module(name)
