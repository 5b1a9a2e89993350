"""The settings with invented values: for tools that read them and need no server (mypy, makemigrations)."""

import os

for _name, _value in {
    "PLACET_ENV": "demo",
    "PLACET_SECRET_KEY": "for tools that start nothing " * 2,
    "PLACET_KEYS": "1:" + "0" * 64,
    "DATABASE_URL": "postgresql://placet:x@127.0.0.1:1/placet",
    "DATABASE_OWNER_URL": "postgresql://placet_owner:x@127.0.0.1:1/placet",
    "DATABASE_SWEEP_URL": "postgresql://placet_sweep:x@127.0.0.1:1/placet",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}.items():
    os.environ.setdefault(_name, _value)

from runtime.settings import *  # noqa: E402, F403
