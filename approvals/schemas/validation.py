"""Whether a value fits a schema, with every fault at the field it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema.exceptions import ValidationError
from referencing.exceptions import Unresolvable

from approvals import masks
from approvals.ledger import canonical
from approvals.schemas import words
from approvals.schemas.budgets import STEPS, OverBudget, limited
from approvals.schemas.dialects import DIALECTS, NEWEST, alone, uri_of
from approvals.schemas.secrecy import Secrecy

MOST_FAULTS = 50


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: the JSON pointer of the value or of the missing field, the rule, and a sentence."""

    pointer: str
    rule: str
    message: str


def validate(schema: dict[str, Any], args: Any, *, steps: int = STEPS) -> tuple[Fault, ...]:
    """What keeps the value from fitting the schema, at most MOST_FAULTS; nothing when it fits.

    Reads 2020-12 unless the schema names another draft that we honour. Never fetches anything. What costs more than
    ``steps`` is invalid (rule ``budget``), as is everything under a schema that cannot be followed (rule ``schema``).
    """
    try:
        with limited(steps):
            validator = validator_of(schema)
            errors = validator.iter_errors(args)
            leaves = [leaf for error in islice(errors, MOST_FAULTS) for leaf in _leaves(error)]
            if not leaves:
                return ()
            secrecy = Secrecy(validator)
            return tuple(dict.fromkeys(_fault(pointer, error, secrecy) for pointer, error in leaves[:MOST_FAULTS]))
    except (OverBudget, RecursionError):
        return (Fault("", "budget", "Checking this against the tool's schema would take too long."),)
    except Unresolvable:
        return (Fault("", "schema", "The tool's schema refers to something that is not in it."),)
    except canonical.Unrepresentable as fault:
        return (Fault("", "schema", f"The tool's schema holds what is not JSON: {fault.message}"),)


def validator_of(schema: dict[str, Any]) -> Any:
    """A validator in the schema's dialect."""
    uri = uri_of(schema) or NEWEST
    return alone(DIALECTS[uri], uri, schema)


def _fault(pointer: str, error: ValidationError, secrecy: Secrecy) -> Fault:
    secret = _is_secret(pointer, error) or secrecy.covers(pointer)
    return Fault(pointer, str(error.validator or "false"), words.message(error, secret=secret))


def _is_secret(pointer: str, error: ValidationError) -> bool:
    above: Any = error
    while above is not None:
        if getattr(above, "secret", False):
            return True
        above = above.parent
    names = [part for part in canonical.split(pointer) if not part.isdigit()]
    schema = dict(error.schema) if isinstance(error.schema, dict) else {}
    if isinstance(error.instance, str):
        schema["type"] = "string"
    named = masks.masked(schema, names[-1] if names else "", pointer)
    return bool(named or masks.looks_secret(error.instance))


# Which branch of a choice was meant


def _leaves(error: ValidationError) -> Iterator[tuple[str, ValidationError]]:
    """The error itself, or for a choice those of the one branch that was plainly meant."""
    if error.validator in ("anyOf", "oneOf") and error.context:
        meant = _meant(error)
        if meant:
            for inner in meant:
                yield from _leaves(inner)
            return
    yield canonical.join(list(error.absolute_path)), error


def _meant(error: ValidationError) -> list[ValidationError]:
    """The errors of the one branch whose type fits, or of the only one of those whose fixed values fit."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    left = list(branches.values())
    for misses in (_misses_type, _misses_value):
        left = [branch for branch in left if not any(misses(inner) for inner in branch)]
        if len(left) == 1:
            return left[0]
    return []


def _misses_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path


def _misses_value(error: ValidationError) -> bool:
    return error.validator in ("const", "enum") and len(error.relative_path) <= 1
