"""Concerns: what of approvals wants an operator's or an administrator's hand, since when, for the page "Attention".

It reads rows as they are: it lets nothing run, so it need prove nothing. Whoever asks says of which agents it may tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from approvals import bars, escalation, glass, people, policies, rows
from approvals.approvals import Approval
from approvals.ledger import about, anchors, followed
from approvals.people import Team
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
from approvals.verifications import Verification

LOOKED_AT: Final = 300
"""The most approvals that are looked at for whether enough people are left; those that wait the longest."""
PARTLY: Final = "partly"
"""The kind of what is no concern: that not everything was looked at."""


@dataclass(frozen=True)
class Concern:
    """One thing. ``kind`` is a code for the page; ``approval`` is where it is put right, if that is one's page."""

    kind: str
    what: str
    why: str
    since: datetime | None = None
    approval: Approval | None = None


def of(workspace_id: UUID, agents: Collection[str] | None, *, administers: bool) -> list[Concern]:
    """All of them. ``agents`` are the names of the agents that it may tell of, None for every one; policy and ledger
    are told to administrators, a broken ledger to everybody."""
    found = [*_ledger(workspace_id), *_verified(workspace_id), *_glass(workspace_id), *_stuck(workspace_id, agents)]
    return found + (_rules(workspace_id) if administers else [])


# The ledger


def _ledger(workspace_id: UUID) -> Iterator[Concern]:
    """Whether the workspace's own chain is as it was written, and holds what was anchored of it."""
    try:
        _HEAD.of(workspace_id)
    except about.Broken as fault:
        yield Concern("ledger", "The workspace’s ledger is not as it was written", str(fault))
    try:
        back = anchors.gone_back(workspace_id, ("ledger", followed.CHAIN))
    except OSError as fault:
        yield Concern("anchors", "The file of anchors cannot be read", f"{fault.strerror}.")
    else:
        if back:
            yield Concern("ledger", "The ledger has gone back behind its last anchor", back)


def _verified(workspace_id: UUID) -> Iterator[Concern]:
    """What the last verification that came to an end found."""
    done = Verification.objects.filter(workspace_id=workspace_id, status="done").order_by("-created_at").first()
    if done and done.faults:
        found = f"{done.faults:,} {'finding' if done.faults == 1 else 'findings'}"
        first = next((f"{chain}: {told}" for chain, told in done.findings), "")
        yield Concern("verification", f"The ledger failed its verification, with {found}", first, done.ended_at)


_HEAD: Final = followed.Followed((), 0, lambda last, told: last)
"""Follows nothing: asked, it verifies what was added to the chain since the last time."""


# Broken glass


def _glass(workspace_id: UUID) -> Iterator[Concern]:
    now = rows.now()
    for review in glass.unreviewed(workspace_id):
        if review.due_at <= now:
            what = f"Nobody has looked at the glass that {review.broken_by.name} broke"
            told = "It was to be reviewed by then. Until it is, nobody may break the glass again."
            yield Concern("glass", what, told, review.due_at, review.approval)


# Rules that nobody can satisfy


def _stuck(workspace_id: UUID, agents: Collection[str] | None) -> list[Concern]:
    """Approvals that wait while too few people are left to say yes."""
    waiting = Approval.objects.filter(workspace_id=workspace_id, status=Approval.Status.PENDING)
    waiting = waiting if agents is None else waiting.filter(agent__in=agents).exclude(kind="change")
    oldest = list(waiting.order_by("created_at").defer("context")[:LOOKED_AT])
    revisions = Revision.objects.filter(approval__in=oldest).select_related("ruling").order_by("number")
    asked: dict[UUID, list[Revision]] = {}
    for revision in revisions:
        asked.setdefault(revision.approval_id, []).append(revision)
    pairs = [(approval, asked[approval.pk]) for approval in oldest if approval.pk in asked]
    able = people.deciders_of(workspace_id, {seat for _, each in pairs for seat in _seats(each[-1].ruling.rule)})
    stuck = [found for approval, each in pairs if (found := _too_few(approval, each, able))]
    told = f"Of what waits, the {LOOKED_AT} oldest were looked at."
    return stuck + ([Concern(PARTLY, told, "")] if len(oldest) == LOOKED_AT else [])


def _seats(rule: Mapping[str, Any]) -> set[str]:
    return {*bars.seats(rule), *escalation.added(rule, escalation.MOST)} if rule else set()


def _too_few(approval: Approval, revisions: list[Revision], able: people.Able) -> Concern | None:
    rule = revisions[-1].ruling.rule
    if not rule:
        return None
    barred = {approval.requester_id} if rule["prevent_self_review"] else set()
    barred |= set() if rule["editor_may_approve"] else {each.editor_id for each in revisions}
    needed, later = bars.seats(rule), set(escalation.added(rule, escalation.MOST))
    free = [set(seats) for key, seats in able.items() if key not in barred]
    left = bars.filled(needed, [set(needed) if seats & later else seats for seats in free])
    if left >= len(needed):
        return None
    count = f"{len(needed)} {'yes' if len(needed) == 1 else 'yeses'}"
    why = f"Rule {rule['id']} wants {count}, and {left or 'nobody'} of those who are left can give one."
    return Concern("stuck", "Too few people are left to decide", why, approval.created_at, approval)


def _rules(workspace_id: UUID) -> list[Concern]:
    """Rules of the policy in force that would be stuck, and a policy that proves nothing."""
    policy = policies.current(workspace_id)
    try:
        policies.check_newest(workspace_id)
        rules = policy.rules if policy else []
    except UNPROVEN as fault:
        told = f"{fault} No call is allowed until it is put right."
        return [Concern("policy", "The policy in force cannot be proved", told)]
    known = set(Team.objects.filter(workspace_id=workspace_id).values_list("slug", flat=True))
    able = people.deciders_of(workspace_id, {seat for rule in rules for seat in _seats(rule)})
    return [found for rule in rules if (found := _hopeless(rule, known, able))]


def _hopeless(rule: Mapping[str, Any], known: set[str], able: people.Able) -> Concern | None:
    needed = bars.seats(rule)
    if rule["verdict"] != "require_approval" or bars.filled(needed, [set(seats) for seats in able.values()]) == len(
        needed
    ):
        return None
    gone = sorted({team for team in needed if team not in known and not people.is_operators(team)})
    why = f"The team {gone[0]} is gone." if gone else f"It wants {len(needed)} people, and fewer may decide."
    what = f"Nobody can satisfy rule {rule['id']}"
    told = f"{why} Whatever it asks about is refused at once."
    return Concern("rule", what, told)
