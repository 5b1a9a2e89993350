"""The metaschemas: what a schema of each draft may look like."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urljoin

from jsonschema.exceptions import ValidationError
from jsonschema_specifications import REGISTRY

from approvals.schemas.dialects import BASES, NEWEST, alone, ours, uri_of

_OWN_WORDS = re.compile(r'"\$(?:dynamicRef": "#meta|recursiveRef": "#)"|"meta/[a-z-]+(#/[^"]*)"')


def fault(schema: dict[str, Any]) -> ValidationError | None:
    """What the metaschema of its draft objects to first. Formats are not asserted: references are followed anyway."""
    return next(_VALIDATORS[uri_of(schema) or NEWEST].iter_errors(schema), None)


def _validator(uri: str) -> Any:
    lenient = ours(BASES[uri], format=lambda *_: iter(()))
    return alone(lenient, uri, _flat(dict(BASES[uri].META_SCHEMA)))


def _flat(metaschema: dict[str, Any]) -> dict[str, Any]:
    """The metaschema in one piece. The newer drafts make theirs of eight vocabularies, and each costs a visit of every
    schema inside a schema; what they say together is one list of properties."""
    if "$vocabulary" not in metaschema:
        return metaschema
    whole: dict[str, Any] = {"type": ["object", "boolean"], "properties": {}, "$defs": {}}
    vocabularies = [urljoin(metaschema["$id"], each["$ref"]) for each in metaschema["allOf"]]
    for part in (metaschema, *(REGISTRY.contents(each) for each in vocabularies)):
        whole["properties"] |= part.get("properties", {})
        whole["$defs"] |= part.get("$defs", {})
    flat: dict[str, Any] = json.loads(_OWN_WORDS.sub(_own, json.dumps(whole)))
    return flat


def _own(found: re.Match[str]) -> str:
    return f'"{found[1]}"' if found[1] else '"$ref": "#"'


_VALIDATORS = {uri: _validator(uri) for uri in BASES}
