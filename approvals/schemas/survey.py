"""Going over a whole schema once, at admission: what refuses it, and what an approver should know about it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from approvals.ledger import canonical
from approvals.schemas import looseness, metaschemas, words
from approvals.schemas.budgets import OverBudget, limited
from approvals.schemas.dialects import NEWEST, REF_STANDS_ALONE, REFERENCES, uri_of
from approvals.schemas.looseness import Warning_
from approvals.schemas.nesting import IN_PLACE, inside
from approvals.schemas.validation import validator_of

MOST_IN_PLACE = 2_000
"""How many schemas may apply to one value: choices within choices multiply."""
MOST_OF_A_KIND = 20
SURVEY_STEPS = 1_000_000


class Inadmissible(ValueError):
    """A definition that is not taken in: where (JSON pointer), by which rule, and why."""

    def __init__(self, pointer: str, rule: str, message: str) -> None:
        super().__init__(pointer, rule, message)
        self.pointer, self.rule, self.message = pointer, rule, message

    def __str__(self) -> str:
        return f"{self.pointer or 'The definition'}: {self.message}"


def survey(schema: dict[str, Any], pointer: str) -> list[Warning_]:
    """The warnings about a schema that stands at the pointer. Raises Inadmissible."""
    try:
        with limited(SURVEY_STEPS):
            _meets_metaschema(schema, pointer)
            found = _Survey(schema, pointer).warnings()
    except (OverBudget, RecursionError):
        raise Inadmissible(pointer, "budget", "This schema is too large or too entangled to be checked.") from None
    return _shortened(looseness.of_root(schema, pointer) + found)


def _meets_metaschema(schema: dict[str, Any], pointer: str) -> None:
    error = metaschemas.fault(schema)
    if error is not None:
        at = pointer + canonical.join(list(error.absolute_path))
        raise Inadmissible(at, "metaschema", f"This is no JSON Schema: {words.message(error, secret=False)}")


def _shortened(found: list[Warning_]) -> list[Warning_]:
    """At most so many of a kind; the last one says how many more there are."""
    kept, seen, total = list[Warning_](), Counter[str](), Counter(each.rule for each in found)
    for warning in found:
        seen[warning.rule] += 1
        more = total[warning.rule] - MOST_OF_A_KIND
        if seen[warning.rule] < MOST_OF_A_KIND or (more <= 0 and seen[warning.rule] <= MOST_OF_A_KIND):
            kept.append(warning)
        elif seen[warning.rule] == MOST_OF_A_KIND:
            kept.append(Warning_(warning.pointer, f"{warning.text} The same at {more} more places.", warning.rule))
    return kept


class _Survey:
    """One walk over every schema inside a schema, following its references; each is looked at once."""

    def __init__(self, schema: dict[str, Any], pointer: str) -> None:
        self.root, self.pointer = schema, pointer
        self.uri = uri_of(schema) or NEWEST
        self.specification = specification_with(self.uri)
        self.validator = validator_of(schema)
        self.places: dict[int, str] = {}
        self.in_place: dict[int, list[int]] = {}
        self.references: deque[tuple[int, str, str, Any]] = deque()

    def warnings(self) -> list[Warning_]:
        found = list(self.walk(self.root, self.pointer, self.validator._resolver, typed=True))
        while self.references:
            found += self.follow(*self.references.popleft())
        weights: dict[int, int] = {}
        for key in self.in_place:
            self.weigh(key, weights, set())
        return found

    def walk(self, schema: Any, pointer: str, resolver: Any, *, typed: bool) -> Iterator[Warning_]:
        """The warnings of a schema and of those inside it; ``typed`` if another one says the type of the same value."""
        if not isinstance(schema, dict) or id(schema) in self.places:
            return
        self.places[id(schema)] = pointer
        self.in_place[id(schema)] = []
        resolver = resolver.in_subresource(self.specification.create_resource(schema))
        validator = self.validator.evolve(schema=schema, _resolver=resolver)
        yield from looseness.of(schema, pointer, validator, self.uri, typed=typed)
        typed = typed or looseness.says_type(schema)
        for keyword, parts, child in inside(schema, alone=self.uri in REF_STANDS_ALONE):
            here = keyword in IN_PLACE
            if here:
                self.in_place[id(schema)].append(id(child))
            yield from self.walk(child, pointer + canonical.join(parts), resolver, typed=typed and here)
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str) and keyword in self.validator.VALIDATORS:
                self.references.append((id(schema), f"{pointer}/{keyword}", schema[keyword], resolver))

    def follow(self, key: int, pointer: str, reference: str, resolver: Any) -> Iterator[Warning_]:
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError):
            text = "This leads out of the schema; nothing is fetched from elsewhere."
            raise Inadmissible(pointer, "reference", text) from None
        if not isinstance(found.contents, dict | bool):
            raise Inadmissible(pointer, "reference", "This leads to something that is no schema.")
        self.in_place[key].append(id(found.contents))
        yield from self.walk(found.contents, pointer, found.resolver, typed=True)

    def weigh(self, key: int, weights: dict[int, int], above: set[int]) -> int:
        """How many schemas apply to a value to which this one does. Refuses those that apply themselves without end."""
        if key in above:
            raise Inadmissible(self.places[key], "loop", "This schema leads only back to itself.")
        if key not in weights:
            below = (self.weigh(child, weights, above | {key}) for child in self.in_place.get(key, ()))
            weights[key] = 1 + sum(below)
        if weights[key] > MOST_IN_PLACE:
            text = f"More than {MOST_IN_PLACE:,} schemas apply to one value here."
            raise Inadmissible(self.places.get(key, self.pointer), "budget", text)
        return weights[key]
