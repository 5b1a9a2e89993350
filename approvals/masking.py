"""Masking: which arguments the policy hides beside those that a schema or a name does.

A mask belongs to a tool, whatever rule matches, and goes for everybody and everywhere. What the policy masked that
ruled of a call stays masked, and what the policy of today masks is masked at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from approvals import edits, masks, policies
from approvals.approvals import Approval
from approvals.policies import Policy
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN, Ruling
from approvals.schemas import Fault

Masked = Mapping[str, tuple[str, ...]]
"""For each tool the pointers that policy masks in its arguments."""
NOTHING_MASKED: Masked = {}
EVERYTHING: Final = ("",)
"""What is masked where nobody can tell what is: the policy's row is not as it was saved."""


def of(approval: Approval) -> tuple[str, ...]:
    """The pointers that are masked in the arguments of an approval."""
    if not hasattr(approval, "_masked"):
        note(approval.workspace_id, [approval])
    places: tuple[str, ...] = approval._masked
    return places


def unseen(approval: Approval, *values: Any) -> set[str]:
    """The places in these arguments whose values nobody may see: a secret is one whichever part of a schema speaks of
    it."""
    tool = edits.Tool(approval.schema, {}, of(approval))
    return {*tool.secret, *(place for value in values for place in edits.secrets(value, tool))}


def note(workspace_id: UUID, listed: Iterable[Approval]) -> None:
    """Find out for all of these at once, in a number of queries that does not grow with theirs."""
    found = list(listed)
    ruled = {approval.pk: {approval.policy_version} for approval in found}
    edited = [approval.pk for approval in found if approval.revision > 1]
    asked = Revision.objects.filter(approval__in=edited).values_list("approval_id", "ruling__policy_version")
    for key, version in asked if edited else ():
        ruled[key].add(version)  # what the policy of an earlier revision masked is in the later ones as well
    said = _said(workspace_id, set[int]().union(*ruled.values()))
    for approval in found:
        approval._masked = _places(said, approval.tool, ruled[approval.pk])


def now(workspace_id: UUID, tool: str) -> tuple[str, ...]:
    """The pointers that the policy of today masks in the arguments of a tool."""
    return _places(_said(workspace_id, set()), tool, set())


def in_chain(workspace_id: UUID, chain: str) -> Masked:
    """For each tool of a run's calls the pointers that are masked: by any policy that ruled there, or by today's."""
    ruled = set(
        Ruling.objects.filter(workspace_id=workspace_id, chain=chain).values_list("tool", "policy_version").distinct()
    )
    versions = defaultdict[str, set[int]](set)
    for tool, version in ruled:
        versions[tool].add(version)
    said = _said(workspace_id, {version for _, version in ruled})
    return {tool: _places(said, tool, each) for tool, each in versions.items()}


def _said(workspace_id: UUID, versions: set[int]) -> dict[int, Mapping[str, Any] | None]:
    """What each of these versions masks, and under 0 that of today; None where it is not as it was saved."""
    current = policies.current(workspace_id)
    said = {0: _masks(current) if current else {}}
    older = versions - {0, current.version if current else 0}
    if current:
        said[current.version] = said[0]
    for policy in Policy.objects.filter(workspace_id=workspace_id, version__in=older) if older else ():
        said[policy.version] = _masks(policy)
    return said


def _masks(policy: Policy) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = policy.contents.get("masks", {})
    except UNPROVEN:
        return None
    return found


def _places(said: Mapping[int, Mapping[str, Any] | None], tool: str, versions: set[int]) -> tuple[str, ...]:
    each = [said.get(version, {}) for version in ({0} | versions)]
    if any(one is None for one in each):
        return EVERYTHING
    return tuple(sorted({place for one in each if one for place in one.get(tool, ())}))


def hushed(faults: tuple[Fault, ...], places: Collection[str]) -> tuple[Fault, ...]:
    """Faults without a word of what is masked: a message may quote a value, that of a place inside of it included."""
    if not places:
        return faults
    told = "This does not fit, and its value is masked."
    return tuple(
        Fault(fault.pointer, fault.rule, told) if _touches(fault.pointer, places) else fault for fault in faults
    )


def _touches(pointer: str, places: Collection[str]) -> bool:
    return masks.by_policy(pointer, places) or any(place.startswith(pointer + "/") for place in places)
