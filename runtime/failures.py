"""Failures: why a step could not be kept, in words that may quote the agent: the names it gave to what it kept.

They are sealed in the run's row and go with an erasure. What stands in the clear says only what kind of failure it was;
the ledger holds a keyed code of the words beside it, so that they can be proved as long as they are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from approvals.ledger import keys, sealing

CODE: Final = "bad_step"
SAID: Final = "The agent answered with something that is no step, or that no state can hold."


# Questions


def words_of(run: Any) -> str:
    """The words of the run's last failure of this kind, or nothing. Raises sealing.Tampered."""
    kept = bytes(run.reason_words)
    return sealing.unseal(run.workspace_id, kept, place=_place(run.pk)).decode() if kept else ""


def with_words(run: Any, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry of the run's ledger, with the words that it is about in place of ours, if they are still there."""
    code = bytes.fromhex(str(entry.get("reason_commit", "")))
    if not code:
        return entry
    try:
        words = words_of(run)
        return {**entry, "reason": words} if words and keys.holds("commitment", _labelled(words), code) else entry
    except (sealing.Tampered, keys.UnknownKey):
        return entry


# Verbs


def sealed(workspace_id: UUID, run_id: UUID, words: str) -> bytes:
    """What goes into ``reason_words``."""
    return sealing.seal(workspace_id, words.encode(), place=_place(run_id))


def commitment(words: str) -> str:
    """What goes into the ledger in place of the words: nobody without the keys can tell by it whether a guess is
    right."""
    return keys.sign("commitment", _labelled(words)).hex()


def _labelled(words: str) -> bytes:
    return b"reason\0" + words.encode()


def _place(run_id: UUID) -> str:
    return f"runtime_run.reason_words:{run_id.hex}"
