"""The drafts of JSON Schema that are honoured, each with our own reading of the keywords that a stranger could abuse.

jsonschema is the reference for what a schema means. Replaced are: patterns (linear time, ASCII classes, a true end),
formats (asserted, strictly), multipleOf (decimal), enum and const (typed), uniqueItems (linear time), and the errors of
missing and extra fields (one each, at the field). Every keyword costs a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema
from jsonschema import validators
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import specification_with

from approvals.schemas import keywords
from approvals.schemas.budgets import spend

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

ANNOTATIONS = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$comment",
        "$defs",
        "definitions",
        "$vocabulary",
    }
    | {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "x-secret"}
    | {"then", "else", "minContains", "maxContains", "contentMediaType"}
)
"""Known keywords that check nothing by themselves: notes, and what their neighbours read."""


def is_secret(schema: Any) -> bool:
    """Whether the schema itself says that its value is secret."""
    return isinstance(schema, Mapping) and (
        schema.get("writeOnly") is True or schema.get("x-secret") is True or schema.get("format") == "password"
    )


def _counted(name: str, keyword: Keyword) -> Keyword:
    """The keyword at the cost of a step; an error on its way up is marked when it passes a schema that says secret."""
    refers = name in REFERENCES

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        spend(4 + value.count("/") if refers else 1)
        for error in keyword(validator, value, instance, schema) or ():
            if is_secret(schema):
                error.secret = True  # type: ignore[attr-defined] # a mark of ours
            yield error

    return counted


def _evolve(self: Any, **changes: Any) -> Any:
    """jsonschema's own would answer to a nested ``$schema`` with its stock validator, which knows no budget."""
    return type(self)(
        schema=changes.get("schema", self.schema),
        format_checker=None,
        registry=self._registry,
        _resolver=changes.get("_resolver", self._resolver),
    )


def _descend(
    self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
) -> Iterator[ValidationError]:
    """jsonschema's own makes a resource of every schema it meets, though only ``$id`` needs one: most of its time.

    The loop is that of its ``iter_errors``, here so that a level of nesting costs one frame of the stack less.
    """
    if schema is False:
        at, within = (() if part is None else (part,) for part in (path, schema_path))
        yield ValidationError("", None, at, instance=instance, schema=False, schema_path=within)  # type: ignore[arg-type] # no keyword
    if isinstance(schema, bool):
        return
    resolver = resolver or self._resolver
    if "$id" in schema or "id" in schema:
        resolver = resolver.in_subresource(specification_with(self.META_SCHEMA["$schema"]).create_resource(schema))
    evolved = self.evolve(schema=schema, _resolver=resolver)
    for keyword, name, value in evolved._validators:
        for error in keyword(evolved, value, instance, schema):
            error._set(
                validator=name,
                validator_value=value,
                instance=instance,
                schema=schema,
                type_checker=evolved.TYPE_CHECKER,
            )
            error.schema_path.appendleft(name)
            if path is not None:
                error.path.appendleft(path)
            if schema_path is not None:
                error.schema_path.appendleft(schema_path)
            yield error


def ours(base: Any, **changed: Keyword) -> Any:
    """A draft of jsonschema's with our keywords in place of its own."""
    replaced = {name: keyword for name, keyword in keywords.REPLACED.items() if name in base.VALIDATORS}
    known = {**base.VALIDATORS, **replaced, "contentEncoding": keywords.content_encoding, **changed}
    dialect: Any = validators.extend(base, {name: _counted(name, keyword) for name, keyword in known.items()})  # type: ignore[no-untyped-call]
    dialect.evolve, dialect.descend = _evolve, _descend
    return dialect


def alone(dialect: Any, uri: str, schema: Any) -> Any:
    """A validator that knows this schema and no other: whatever leads out of it is unresolvable."""
    resolver: Any = Registry().resolver_with_root(specification_with(uri).create_resource(schema))
    return dialect(schema=schema, registry=Registry(), _resolver=resolver)


NEWEST = "https://json-schema.org/draft/2020-12/schema"
BASES: dict[str, Any] = {
    NEWEST: jsonschema.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
}
DIALECTS = {uri: ours(base) for uri, base in BASES.items()}
REF_STANDS_ALONE = frozenset(uri for uri in DIALECTS if "/draft-0" in uri)
"""The drafts in which what stands beside ``$ref`` is ignored."""


def uri_of(schema: Mapping[str, Any]) -> str | None:
    """The dialect that a schema names, if we honour it; 2020-12 where it names none; None for one we do not know."""
    named = schema.get("$schema", NEWEST)
    plain = named.rstrip("#") if isinstance(named, str) else ""
    for uri in (plain, plain.replace("https://", "http://", 1), plain.replace("http://", "https://", 1)):
        if uri in DIALECTS:
            return uri
    return None
