"""Breaking the glass: in an emergency one named person lets a call go whose votes are missing.

The rule names who may, and who looks at it afterwards. It takes a sign-in of a moment ago and a reason; everybody of
the workspace is told; and the review that it opens has a deadline of its own: while one is overdue, nobody breaks the
glass again. What is due stands in the ledger, which is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import models

from approvals import approvals, letters, people, returns, revisions, rows, vouched, words
from approvals.answers import Decided
from approvals.approvals import Approval
from approvals.ledger import about, canonical, entries, followed, sealing
from approvals.people import Person, Workspace
from approvals.said import Attempt, Decision, write
from approvals.votes import Ballot, Refused, too_late

VERDICT: Final = "override"
NOTE_MAX: Final = 4000
_BROKEN: Final = "glass.broken"
_REVIEWED: Final = "glass.reviewed"


class GlassReview(rows.Row):
    """That somebody broke the glass, and what those found who looked at it afterwards."""

    PREFIX = "glr"
    STATE = "finding"
    MOVES: ClassVar = {"open": frozenset({"right", "wrong"})}

    class Finding(models.TextChoices):
        OPEN = "open"
        RIGHT = "right"
        WRONG = "wrong"

    approval = models.OneToOneField(Approval, models.PROTECT, related_name="glass_review")
    broken_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    team = models.CharField(max_length=40)
    due_at = models.DateTimeField()
    finding = models.CharField(max_length=5, choices=Finding.choices, default=Finding.OPEN)
    note = models.BinaryField(default=b"")
    reviewed_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(finding__in=["open", "right", "wrong"]), name="glass_finding_is_known"
            ),
        ]

    def clear_note(self) -> str:
        """What was found, in words. Raises Tampered."""
        return sealing.unseal(self.workspace_id, bytes(self.note), place=_place(self.pk)).decode()


def _place(key: UUID) -> str:
    return f"approvals_glassreview.note:{key.hex}"


# By the ledger


@dataclass(frozen=True)
class _Told:
    """The entries by which somebody broke the glass and by which somebody looked at it, by the approval."""

    broken: dict[str, dict[str, Any]] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def due(self) -> dict[str, datetime]:
        """Until when each of them that nobody looked at is to be; nothing is due for a rehearsal."""
        left = ((name, told) for name, told in self.broken.items() if name not in self.found)
        return {name: datetime.fromisoformat(told["due"]) for name, told in left if not told.get("rehearsal")}

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        broken, found = dict(self.broken), dict(self.found)
        for entry in told:
            (broken if entry["kind"] == _BROKEN else found)[entry["approval"]] = entry
        return _Told(broken, found)


_TOLD = followed.Followed({_BROKEN, _REVIEWED}, _Told(), _Told.after)


# Questions


def overdue(workspace_id: UUID, now: datetime) -> list[str]:
    """The approvals for which somebody broke the glass, and at which nobody looked in time. Raises about.Broken."""
    return sorted(name for name, due in _TOLD.of(workspace_id).due.items() if due <= now)


def opens(vote: Ballot, person: Person) -> Refused | None:
    """Why this person may not break the glass for an approval now; None if they may."""
    approval, said = vote.approval, vote.rule.get("break_glass")
    if approval.status != Approval.Status.PENDING:
        return too_late(approval)
    if not said or approval.kind != Approval.Kind.CALL:
        return Refused("decision_not_allowed", f"Rule {vote.rule['id']} has no glass to break.")
    try:
        if not _decides(person, approval.workspace_id, said["team"]):
            return _only(approval, said["team"], "break the glass")
        if person.pk == approval.requester_id:
            return Refused("self_review", "The agent asks on your behalf, so somebody else must break the glass.")
        if person.pk in vote.barred:
            return Refused("self_review", "You edited it, so somebody else must break the glass.")
        late = overdue(approval.workspace_id, vote.at or rows.now())
    except about.Broken as fault:
        return Refused("tampered", str(fault))
    if late:
        told = "The glass was broken before, and nobody has looked at that in time. Review it first."
        return Refused("review_overdue", told)
    return None


def refusal(vote: Ballot, attempt: Attempt) -> Refused | None:
    """The same of a verdict: it takes a reason, and a sign-in of a moment ago."""
    if refused := opens(vote, attempt.by):
        return refused
    if not attempt.message:
        return Refused("needs_message", "Say why it cannot wait: everybody is told.", pointer="/message")
    if not attempt.assurance.satisfies("fresh"):
        told = "Sign in once more: the glass is broken only within five minutes of signing in."
        return Refused("needs_assurance", told)
    return None


def lets_go(vote: Ballot, rule: Mapping[str, Any]) -> bool:
    """Whether somebody broke the glass under this rule, as the signed decision, the rights of today and the ledger say.
    Raises about.Broken."""
    said, approval = rule.get("break_glass"), vote.approval
    if not said or not vote.overrides:
        return False
    able = people.deciders_of(approval.workspace_id, [said["team"]])
    by = _TOLD.of(approval.workspace_id).broken.get(approval.public_id, {}).get("by")
    return any(
        one.holds()
        and one.digest == vote.revision.digest
        and one.with_assurance.satisfies("fresh")
        and one.person_id in able
        and one.person_id not in {approval.requester_id, *vote.barred}
        and one.person.public_id == by
        and not vouched.unexplained_among(approval.workspace_id, {one.person_id: able[one.person_id]})
        for one in returns.since(approval.workspace_id, vote.overrides)
    )


def review_of(approval: Approval) -> GlassReview | None:
    """The review of an approval for which somebody broke the glass."""
    return GlassReview.objects.select_related("approval", "broken_by", "reviewed_by").filter(approval=approval).first()


def unreviewed(workspace_id: UUID) -> list[GlassReview]:
    """Those that nobody has looked at, the first deadline first, with who broke the glass and for what."""
    found = GlassReview.objects.filter(workspace_id=workspace_id, finding=GlassReview.Finding.OPEN)
    return list(found.select_related("broken_by", "approval").order_by("due_at"))


def unexplained(workspace_id: UUID) -> list[str]:
    """The reviews that the ledger opened and that are gone, and those that say something else than it does."""
    told = _Told().after(entries.read(workspace_id, followed.CHAIN, only=[_BROKEN, _REVIEWED]))
    rows_here = GlassReview.objects.filter(workspace_id=workspace_id)
    here = {one.approval.public_id: one for one in rows_here.select_related("approval", "broken_by", "reviewed_by")}
    found = [f"the broken glass of {name} has no review any more." for name in told.broken.keys() - here.keys()]
    for name, one in here.items():
        if name not in told.broken:
            found.append(f"no entry broke the glass of {name}.")
        elif _differs(one, told.broken[name], told.found.get(name)):
            found.append(f"the review of the broken glass of {name} says otherwise than the ledger.")
    return sorted(found)


def _differs(one: GlassReview, broken: dict[str, Any], found: dict[str, Any] | None) -> bool:
    begun = (one.broken_by.public_id, one.team, revisions.instant(one.due_at))
    ended = (one.finding, one.reviewed_by.public_id if one.reviewed_by else "")
    told = (found["finding"], found["by"]) if found else (GlassReview.Finding.OPEN, "")
    return begun != (broken["by"], broken["team"], broken["due"]) or ended != told


# Verbs


def override(vote: Ballot, attempt: Attempt) -> Decided:
    """Let the call go, open the review, and tell everybody."""
    approval, said = vote.approval, vote.rule["break_glass"]
    write(vote, attempt, VERDICT)
    review = GlassReview(workspace_id=approval.workspace_id, approval=approval, broken_by=attempt.by)
    review.team = said["review"]["team"]
    review.due_at = rows.now() + timedelta(seconds=said["review"]["within"])
    review.save(force_insert=True)
    due = {"due": revisions.instant(review.due_at), "team": review.team}
    body: dict[str, Any] = {"approval": approval.public_id, "digest": vote.revision.digest} | due
    body |= {"rehearsal": True} if approval.rehearsal else {}
    entries.append(approval.workspace_id, followed.CHAIN, _BROKEN, body, by=attempt.by.public_id)
    by: dict[str, Any] = {"by": attempt.by.public_id, "person": attempt.by}
    approvals.settle(approval, Approval.Status.APPROVED, **by, message=attempt.message, voted_on=vote.revision)
    _tell_everybody(review, approval, attempt)
    return Decided(str(approval.status), vote.revision.number, vote.filled, vote.needed)


def review(workspace: Workspace, approval: Approval, *, by: Person, finding: str, note: str) -> Refused | None:
    """Say whether it was right to break the glass, for the people of the rule's reviewing team, but never for whoever
    broke it."""
    with rows.within(workspace):
        found = review_of(approval)
        if found is None or found.workspace_id != workspace.pk:
            return Refused("not_found", "Nobody broke the glass for this.")
        if refused := _may_not_review(found, by) or _badly_found(finding, note):
            return refused
        sets: dict[str, Any] = {"reviewed_by": by, "reviewed_at": rows.now()}
        said = words.spoken(note).encode()
        sets["note"] = sealing.seal(workspace.pk, said, place=_place(found.pk))
        if not rows.move(GlassReview, found.pk, frm="open", to=finding, **sets):
            return Refused("too_late", "Somebody reviewed it already.")
        body = {"approval": approval.public_id, "finding": finding}
        body["note_digest"] = canonical.sha256_hex(said)
        entries.append(workspace.pk, followed.CHAIN, _REVIEWED, body, by=by.public_id)
        rows.publish(workspace.pk, approval.public_id)
    return None


def may_review(found: GlassReview, person: Person) -> bool:
    """Whether this person may say how it was."""
    return found.finding == GlassReview.Finding.OPEN and _may_not_review(found, person) is None


def _may_not_review(found: GlassReview, person: Person) -> Refused | None:
    """By the ledger: who broke the glass and which team looks at it is not the row's to say."""
    try:
        told = _TOLD.of(found.workspace_id)
        broken = told.broken.get(found.approval.public_id)
        if broken is None:
            return Refused("tampered", "No entry of the ledger says that somebody broke this glass.")
        if person.public_id == broken["by"]:
            return Refused("self_review", "You broke the glass, so somebody else must look at it.")
        if found.approval.public_id in told.found:
            return Refused("too_late", "Somebody reviewed it already.")
        may = _decides(person, found.workspace_id, broken["team"])
        return None if may else _only(found, broken["team"], "review this")
    except about.Broken as fault:
        return Refused("tampered", str(fault))


def _decides(person: Person, workspace_id: UUID, team: str) -> bool:
    """Whether somebody decides for a team, by a right that the ledger gave. Raises about.Broken."""
    able = people.deciders_of(workspace_id, [team]).get(person.pk)
    return able is not None and not vouched.unexplained_among(workspace_id, {person.pk: able})


def _only(of: Any, team: str, what: str) -> Refused:
    named = people.team_names(of.workspace_id, [team]).get(team, team)
    return Refused("not_allowed", f"Only {named} may {what}.")


def _badly_found(finding: str, note: str) -> Refused | None:
    if finding not in {"right", "wrong"}:
        return Refused("unknown_finding", "Say whether it was right or wrong.", pointer="/finding")
    if not words.spoken(note) or len(note) > NOTE_MAX or "\x00" in note:
        return Refused("needs_message", f"Say what you found, in at most {NOTE_MAX} characters.", pointer="/note")
    return None


def _tell_everybody(found: GlassReview, approval: Approval, attempt: Attempt) -> None:
    """A letter to each member. The inbox of each says it too, until somebody has looked at it."""
    everybody = Person.objects.filter(memberships__workspace_id=approval.workspace_id, is_active=True)
    told = {"who": attempt.by.name, "tool": approval.tool_title, "agent": approval.agent, "due": found.due_at}
    told |= {"slug": approval.workspace.slug, "approval": approval.public_id, "rehearsal": approval.rehearsal}
    subject = f"{'Rehearsal: ' if approval.rehearsal else ''}{attempt.by.name} broke the glass"
    addresses = [one.email for one in everybody.exclude(pk=attempt.by.pk).order_by("email") if one.address_holds()]
    letters.tell_all(addresses, subject, "glass", told)


def overridden(decisions: Iterable[Decision]) -> Decision | None:
    """The decision that broke the glass, among these."""
    return next((one for one in decisions if one.verdict == VERDICT), None)
