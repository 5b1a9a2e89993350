"""Limits: how much an agent may ask at once, and how fast a person may say yes, by a policy's document."""

from __future__ import annotations

from typing import Any, Final

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "open_per_agent": {"type": "integer", "minimum": 1, "maximum": 100_000},
        "yeses_per_minute": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
}
