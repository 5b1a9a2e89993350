"""Verifications: a workspace's ledger verified in small parts, for a page that shows how far it is.

It asks what `manage.py ledger verify` asks, of one workspace. Each part takes about a second and is a task of its own,
so that agents' runs go on between two of them; a part whose worker died is done again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar, Final
from uuid import UUID

from django.db import IntegrityError, models, transaction

from approvals import people, rows
from approvals.ledger import anchors, entries, followed, verify
from approvals.ledger.entries import Chain
from approvals.people import Person, Workspace
from approvals.rows import wire
from approvals.votes import Refused

PART: Final = 1.0
"""Seconds after which a part ends, once the chains it has begun are done."""
CHAINS: Final = 25
"""So many chains are read in one transaction."""
LEASE: Final = timedelta(minutes=10)
"""How long a part may take: one question about all rows of a large workspace is one part."""
FINDINGS: Final = 200
"""So many findings are kept in words; all of them are counted."""


class Verification(rows.Row):
    """One verification of a workspace's ledger: how far it is, and what it found. ``reached`` is the last chain that is
    done, ``further`` how many of the questions beside the chains; ``findings`` are pairs of a chain and a sentence."""

    PREFIX = "ver"
    MOVES: ClassVar = {"running": frozenset({"done"})}

    status = models.CharField(max_length=8, default="running")
    started_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    total = models.PositiveIntegerField(default=0)
    chains = models.PositiveIntegerField(default=0)
    entries = models.PositiveBigIntegerField(default=0)
    faults = models.PositiveIntegerField(default=0)
    findings = models.JSONField(default=list)
    reached = models.CharField(max_length=80, null=True)
    further = models.PositiveIntegerField(default=0)
    working_until = models.DateTimeField(db_default=rows.Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"], condition=models.Q(status="running"), name="one_verification_at_a_time"
            )
        ]
        indexes = [models.Index(fields=["workspace", "-created_at"], name="verifications_by_time")]

    @property
    def running(self) -> bool:
        return self.status == "running"

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return (self.ended_at - self.created_at).total_seconds() if self.ended_at else None

    @property
    def share(self) -> int:
        """How much is done, in hundredths: the questions beside the chains are the last tenth."""
        of_chains = 90 * self.chains // max(1, self.total)
        return 100 if not self.running else min(90, of_chains) + 10 * self.further // verify.further()


# Questions


def last(workspace_id: UUID) -> Verification | None:
    """The one that was begun last."""
    found = Verification.objects.filter(workspace_id=workspace_id).select_related("started_by")
    return found.order_by("-created_at").first()


def may_begin(person: Person, workspace: Workspace) -> bool:
    """Those who audit the workspace or administer it."""
    return any(people.may(person, right, workspace) for right in ("audit", "administer"))


def due() -> list[tuple[UUID, UUID]]:
    """Workspace and key of those that nobody works on, in all workspaces: for the sweep."""
    return [(workspace, key) for workspace, key in wire.rows(_DUE, ())]


_DUE: Final = """
    SELECT workspace_id, id FROM approvals_verification
    WHERE status = 'running' AND working_until < (SELECT placet_now()) - interval '1 second'
"""


# Verbs


def begin(workspace: Workspace, *, by: Person) -> Verification | Refused:
    """Begin one; the sweep has a worker take it up."""
    if not may_begin(by, workspace):
        return Refused("not_allowed", "Only those who audit or administer the workspace verify its ledger.")
    with rows.within(workspace):
        total = Chain.objects.filter(workspace=workspace).count()
        made = Verification(workspace=workspace, started_by=by, total=total)
        made.working_until = rows.now() - timedelta(seconds=2)
        try:
            with transaction.atomic():
                made.save(force_insert=True)
        except IntegrityError:
            return Refused("running", "The ledger is being verified already.")
        rows.publish(workspace.pk, made.public_id)
    return made


def go_on(workspace_id: UUID, key: UUID) -> bool:
    """Do the next part, unless somebody is at it. Returns whether there is more to do."""
    found = _claimed(workspace_id, key)
    if found is None:
        return False
    part = _Part()
    if not _chains(found, part):
        _question(found, part)
    with rows.within(workspace_id):
        done = found.further == verify.further()
        _write(found, part)
        if done:
            rows.move(Verification, found.pk, frm="running", to="done", ended_at=rows.Now())
            told = {"verification": found.public_id, "chains": found.chains, "entries": found.entries}
            by = found.started_by.public_id if found.started_by else None
            entries.append(workspace_id, followed.CHAIN, "ledger.verified", told | {"faults": found.faults}, by=by)
        rows.publish(workspace_id, found.public_id)
    return not done


def _claimed(workspace_id: UUID, key: UUID) -> Verification | None:
    later = models.ExpressionWrapper(rows.Now() + models.Value(LEASE), output_field=models.DateTimeField())
    mine = Verification.objects.filter(workspace_id=workspace_id, pk=key, status="running")
    with rows.within(workspace_id):
        if not mine.filter(working_until__lte=rows.Now()).update(working_until=later):
            return None
        return mine.select_related("started_by").get()


@dataclass
class _Part:
    """What one part found."""

    findings: list[tuple[str, str]] = field(default_factory=list)

    def add(self, chain: str, told: Iterable[object]) -> None:
        self.findings += [(chain, str(one)) for one in told]


def _chains(found: Verification, part: _Part) -> bool:
    """Verify chains for a while. False if all of them are done."""
    until, any_left = time.monotonic() + PART, False
    while time.monotonic() < until:
        with rows.reading(found.workspace_id):
            named = verify.chains_behind(found.workspace_id, found.reached, CHAINS)
        if not named:
            return any_left
        any_left = True
        for verdict in verify.of_chains(found.workspace_id, [key for key, _ in named]):
            found.chains += 1
            found.entries += verdict.entries
            part.add(verdict.chain, verdict.findings)
        found.reached = named[-1][1]
    return True


def _question(found: Verification, part: _Part) -> None:
    """Ask the next of the questions beside the chains."""
    try:
        if found.further == 0:
            part.add("", anchors.book(anew=True).faults)
        part.add("", verify.asked_further(found.workspace_id, found.further))
    except OSError as fault:
        part.add("", [f"The anchors cannot be read, so nothing is compared with them: {fault.strerror}."])
    found.further += 1


def _write(found: Verification, part: _Part) -> None:
    found.faults += len(part.findings)
    found.findings = [*found.findings, *part.findings][:FINDINGS]
    found.total = max(found.total, found.chains)
    named = ("total", "chains", "entries", "faults", "findings", "reached", "further")
    sets = {name: getattr(found, name) for name in named}
    Verification.objects.filter(pk=found.pk).update(**sets, working_until=rows.Now())
