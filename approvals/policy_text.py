"""The text of a policy: YAML or JSON, read strictly."""

from __future__ import annotations

import re
from typing import Any

import yaml

from approvals.ledger import canonical


class PolicyFault(ValueError):
    """A document that cannot be a policy: the JSON pointer of the place, the rule it breaks, and a sentence; ``line``
    is where the text cannot be read, counted from 1, 0 where it can."""

    def __init__(self, pointer: str, rule: str, message: str, line: int = 0) -> None:
        super().__init__(f"{pointer or 'the document'}: {message}")
        self.pointer, self.rule, self.message, self.line = pointer, rule, message, line


class _Loader(yaml.SafeLoader):
    """YAML with the JSON core schema alone (no dates, no yes/no, no merge keys) and no key said twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|false)$", "tf"),
    ("tag:yaml.org,2002:null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("tag:yaml.org,2002:int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("tag:yaml.org,2002:float", r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            raise PolicyFault("", "key", f"Line {line}: a key must be text.", line)
        if key in found:
            raise PolicyFault("", "duplicate", f"Line {line}: {key} is said twice.", line)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse(text: str | bytes) -> Any:
    """The value of a YAML or JSON text, read strictly. Raises PolicyFault with the line or place."""
    raw = text.encode() if isinstance(text, str) else bytes(text)
    try:
        if raw.lstrip()[:1] == b"{":
            return canonical.parse(raw)
        if len(raw) > canonical.MAX_BYTES:
            raise PolicyFault("", "size", f"A policy has at most {canonical.MAX_BYTES} bytes.")
        if any(sign in raw for sign in (b"&", b"*", b"!")):
            _refuse_aliases_and_tags(raw)
        value = yaml.load(raw, Loader=_Loader)
        canonical.encode(value)
    except canonical.Unrepresentable as fault:
        raise PolicyFault(fault.pointer, fault.rule, fault.message, fault.line or 0) from fault
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as fault:
        mark = getattr(fault, "problem_mark", None)
        told = f"This is no YAML: {' '.join(str(fault).split())}"
        raise PolicyFault("", "syntax", told, mark.line + 1 if mark else 0) from fault
    return value


def _refuse_aliases_and_tags(raw: bytes) -> None:
    """Aliases let a small text unfold into gigabytes, a tag makes a value another than it looks; no policy needs
    them."""
    for event in yaml.parse(raw, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) and event.start_mark:
            raise PolicyFault(
                "", "alias", f"Line {event.start_mark.line + 1}: write the part out instead of naming it with *."
            )
        if getattr(event, "tag", None) is not None and event.start_mark:
            line = event.start_mark.line + 1
            raise PolicyFault("", "tag", f"Line {line}: write the value as it is, without a tag that begins with !.")
