"""Tools' schemas: taking definitions in, reading arguments strictly, and checking arguments against a schema."""

from __future__ import annotations

from typing import Any

from approvals.ledger import canonical
from approvals.schemas.admission import Admission, admit
from approvals.schemas.looseness import Warning_
from approvals.schemas.patterns import runs as runs_pattern
from approvals.schemas.survey import Inadmissible
from approvals.schemas.validation import Fault, validate

__all__ = ["Admission", "Fault", "Inadmissible", "Warning_", "admit", "read_arguments", "runs_pattern", "validate"]


def read_arguments(data: bytes | str) -> dict[str, Any]:
    """A call's arguments from their JSON text. Raises canonical.Unrepresentable, also for anything but an object."""
    value = canonical.parse(data)
    if not isinstance(value, dict):
        raise canonical.Unrepresentable("", "type", "Arguments are an object: fields in braces.", 1, 1)
    return value
