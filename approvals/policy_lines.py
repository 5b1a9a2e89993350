"""Where in the text of a policy something stands: YAML or JSON, by its pointer."""

from __future__ import annotations

import yaml

from approvals.edits import lines
from approvals.ledger import canonical
from approvals.policy_text import PolicyFault


def line_of(text: str, fault: PolicyFault) -> int:
    """The line, counted from 1, that a fault is about: of the value that its pointer names, or of what is around it."""
    if fault.line:
        return fault.line
    if text.lstrip()[:1] == "{":
        return lines.line_of(text, fault.pointer)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return 1
    return _line(node, canonical.split(fault.pointer) if fault.pointer else [])


def _line(node: yaml.Node | None, path: list[str]) -> int:
    line = node.start_mark.line + 1 if node and node.start_mark else 1
    for part in path:
        step = _step(node, part)
        if step is None:
            break
        at, node = step
        line = at.start_mark.line + 1 if at.start_mark else line
    return line


def _step(node: yaml.Node | None, part: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The node that says where a part begins, and that of its value."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
        inner = node.value[int(part)]
        return inner, inner
    return None
