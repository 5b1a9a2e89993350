"""Clearance: what people decided, proved once more at the moment it takes effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from approvals import (
    bars,
    behind,
    chronicle,
    deputies,
    escalation,
    glass,
    grants,
    halts,
    moments,
    people,
    policies,
    revisions,
    rows,
    votes,
    vouched,
)
from approvals.approvals import Approval, context_of
from approvals.deputies import Absence, Eligible
from approvals.ledger import canonical
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN, Forged, Ruling
from approvals.said import Decision

HALTED = "halted"
"""The code of what is not cleared because somebody stopped its agent."""
LOOK = timedelta(minutes=15)
"""How long it takes at most until it is looked at again."""


@dataclass(frozen=True)
class Cleared:
    """The bytes that may run now, and the header that hashes with them to the digest the call keeps."""

    header: dict[str, Any]
    args: bytes
    tool: str
    definition_digest: str


@dataclass(frozen=True)
class NotCleared:
    """Why the call may not run: a code and a sentence."""

    code: str
    message: str
    until: datetime | None = None
    """Of what is not cleared yet: when it is to be looked at again."""

    @property
    def lapsed(self) -> bool:
        """Whether it was cleared once, and only what has changed since speaks against it: it may be asked again."""
        return self.code in {"expired", "votes_fall_short", "policy_changed", "grant_over"}


@dataclass(frozen=True)
class Lapsed:
    """What was cleared once: the bytes, and the approval with what people were shown beside them, if they were
    asked."""

    args: bytes
    approval_id: str
    context: dict[str, Any] | None


def clearance(workspace_id: UUID, subject: str, digest: str) -> Cleared | NotCleared:
    """The stored bytes and the header of the digest, after everything is checked once more: the ruling's and the votes'
    authentication codes, the approval's status and deadline, the voters' rights today, and the policy in force today.

    Of another kind than call it gives the value that people approved; nothing of it is sent anywhere, so neither a
    deadline that passed since nor the rules for calls are asked."""
    try:
        return _clearance(workspace_id, subject, digest)
    except UNPROVEN as fault:
        return NotCleared("tampered", f"What was decided cannot be proved. {fault}".strip())


def lapsed(workspace_id: UUID, subject: str, digest: str) -> Lapsed:
    """What the digest of a clearance that lapsed stood for. Raises Tampered, Forged or UnknownKey."""
    ruling = Ruling.objects.get(workspace_id=workspace_id, subject=subject, digest=digest)
    args, asked = ruling.clear_args(), str(ruling.header.get("approval", ""))
    if not ruling.holds() or canonical.action_digest(ruling.header, args) != digest:
        raise Forged(f"The ruling {ruling.public_id} is not as it was written.")
    key = rows.parse_id("apr", asked)
    approval = Approval.objects.get(workspace_id=workspace_id, pk=key) if key else None
    return Lapsed(args, asked, context_of(approval) if approval else None)


def _clearance(workspace_id: UUID, subject: str, digest: str) -> Cleared | NotCleared:
    ruling: Any = _RULED.first(workspace=workspace_id, subject=subject, digest=digest) if digest else None
    if ruling is None or not ruling.holds():
        return NotCleared("tampered", "No ruling that Placet wrote covers this call.")
    args = ruling.clear_args()
    if canonical.action_digest(ruling.header, args) != digest:
        return NotCleared("tampered", "The arguments are not the ones the digest names.")
    policies.check_newest(workspace_id)
    if _kind(ruling) == Approval.Kind.CALL and halts.since(workspace_id, ruling.agent):
        problem: NotCleared | None = NotCleared(HALTED, "Its agent is stopped.", ruling.read_at + LOOK)
    elif ruling.verdict == Ruling.Verdict.REQUIRE_APPROVAL:
        problem = _unapproved(ruling, args)
    else:
        problem = _no_longer_allowed(ruling, args)
    return problem or _rehearsed(ruling) or Cleared(ruling.header, args, ruling.tool, ruling.definition_digest)


def _rehearsed(ruling: Ruling) -> NotCleared | None:
    """That it is a rehearsal, by the ruling's signed header: asked last, so that everything else is as it always is.
    What people settle beside calls takes effect in a rehearsal too; nothing of it is sent."""
    rehearsed = ruling.header.get("rehearsal") and _kind(ruling) == Approval.Kind.CALL
    return NotCleared("rehearsal", REHEARSED) if rehearsed else None


REHEARSED = "This is a rehearsal: everything it needs to be sent is there, and nothing is sent."


def would_have_gone(approval: Approval) -> bool:
    """Whether nothing but that it is a rehearsal kept an approved call from being sent."""
    return approval.rehearsal and approval.outcome == Approval.Outcome.FAILED and REHEARSED in approval.outcome_note


# With what people voted on, where they were asked, and the time: all that the votes are held against.
_RULED = rows.Ready(
    lambda: (
        Ruling.objects.select_related("revision_ruled__approval", "revision_ruled__editor")
        .annotate(read_at=rows.Now())
        .filter(workspace_id=rows.Slot("workspace"), subject=rows.Slot("subject"), digest=rows.Slot("digest"))
    )
)


def _no_longer_allowed(ruling: Any, args: bytes) -> NotCleared | None:
    if ruling.verdict != Ruling.Verdict.ALLOW:
        return NotCleared("not_allowed", "Policy did not allow this call.")
    opinion = policies.judge(ruling.workspace_id, tool=ruling.tool, agent=ruling.agent, args=canonical.parse(args))
    if "grant" in ruling.header and opinion.verdict != "deny":
        return _no_longer_granted(ruling, args, opinion)
    if opinion.verdict != "allow":
        return NotCleared("policy_changed", f"Policy no longer allows this call outright. {opinion.reason}".strip())
    return _not_yet(moments.frozen(opinion.rule, ruling.read_at))


def _no_longer_granted(ruling: Any, args: bytes, opinion: policies.Opinion) -> NotCleared | None:
    """Whether a call that a standing grant let through may go now: by the grant's own votes, its limits, and the rule
    of today."""
    key = rows.parse_id(grants.Grant.PREFIX, str(ruling.header["grant"]))
    grant = grants.Grant.objects.filter(workspace_id=ruling.workspace_id, pk=key).first() if key else None
    if grant is None:
        return NotCleared("tampered", "The standing grant that covered this call is gone.")
    given = granted(grant)
    if isinstance(given, NotCleared):
        return NotCleared(given.code if given.code == "tampered" else "grant_over", given.message)
    if why := not_covered(given, ruling, args, opinion):
        return NotCleared("grant_over", why)
    if behind.person(ruling.workspace_id, ruling.chain) in given.givers:
        return NotCleared("grant_over", "The person behind the run gave the standing grant.")
    # Policy may allow such a call outright by now: then its rule limits nothing.
    asks = opinion.rule if opinion.verdict == "require_approval" else None
    terms = given.terms_under(asks) if asks else given.terms
    if why := grants.lapse(grant, terms, ruling.subject, ruling.read_at):
        return NotCleared("grant_over", why)
    return _not_yet(moments.frozen(opinion.rule, ruling.read_at))


@dataclass(frozen=True)
class Granted:
    """A standing grant that people gave: its terms, and the votes as they count today."""

    terms: grants.Terms
    vote: votes.Ballot

    @property
    def givers(self) -> set[UUID]:
        """Everybody whose yes it rests on, and those in whose place they spoke."""
        given = self.vote.yeses
        return {key for vote in given for key in (vote.person_id, vote.in_place_of_id) if key}

    def terms_under(self, rule: Mapping[str, Any]) -> grants.Terms:
        """The terms as far as the rule of today goes with them."""
        return self.terms.within(rule, moments.given_at(self.vote.yeses))


def granted(grant: grants.Grant) -> Granted | NotCleared:
    """What people gave beforehand, proved once more: the bytes they voted on, and their votes with the rights of today.
    Raises Forged, Tampered, UnknownKey or Broken."""
    approved = _clearance(grant.workspace_id, grant.public_id, grant.digest)
    if isinstance(approved, NotCleared):
        return approved
    key = rows.parse_id(Approval.PREFIX, str(approved.header["approval"]))
    if key is None or approved.header.get("kind") != Approval.Kind.GRANT:
        return NotCleared("tampered", "What people approved there is no standing grant.")
    approval = Approval.objects.get(workspace_id=grant.workspace_id, pk=key)
    return Granted(grants.Terms.read(approved.args), votes.ballot(approval, revisions.current_revision(approval)))


def not_covered(given: Granted, call: Any, args: bytes, opinion: policies.Opinion) -> str:
    """Why the terms or the people of a grant do not cover a call of which the policy of today has this opinion; nothing
    where they do. ``call`` has a tool, an agent and a definition_digest."""
    terms, rule = given.terms, opinion.rule
    if (terms.tool, terms.agent, terms.definition) != (call.tool, call.agent, call.definition_digest):
        return "The standing grant is for another tool or agent."
    if not terms.fit(args) or terms.amount(canonical.parse(args)) is None:
        return "The standing grant is for other arguments."
    if opinion.verdict == "allow" or rule is None:
        return ""
    if rule["id"] != terms.rule or "standing" not in rule or "hold_after" in rule:
        return f"Rule {rule['id']} does not let this call go under the standing grant."
    short = _short_of(given.vote, opinion)
    return short.message if short else ""


def _not_yet(wait: moments.Wait | None) -> NotCleared | None:
    return NotCleared("not_yet", wait.why, wait.until) if wait else None


def _unapproved(ruling: Any, args: bytes) -> NotCleared | None:
    revision = getattr(ruling, "revision_ruled", None)
    if revision is None or not _is_approved(ruling, revision):
        return NotCleared("not_approved", "This call is not approved.")
    told = chronicle.of(revision.approval)
    vote = votes.ballot(revision.approval, revision)
    told.check(vote)
    return _votes_fall_short(vote) or (_call(vote, ruling, args) if _kind(ruling) == Approval.Kind.CALL else None)


def _is_approved(ruling: Ruling, revision: Revision) -> bool:
    """Whether the approval that the ruling was made for is approved, on this revision."""
    approval = revision.approval
    made_for = (ruling.header.get("approval", ""), ruling.subject, ruling.revision, ruling.workspace_id)
    ended = (approval.public_id, approval.subject, approval.revision, approval.workspace_id)
    return approval.status == Approval.Status.APPROVED and made_for == ended and revision.number == ruling.revision


def _kind(ruling: Ruling) -> str:
    """What kind of approval the ruling belongs to, from its signed header: the column beside it proves nothing."""
    return str(ruling.header.get("kind", Approval.Kind.CALL))


def _votes_fall_short(vote: votes.Ballot) -> NotCleared | None:
    approval, revision = vote.approval, vote.revision
    if vote.stops:
        return NotCleared("stopped", f"{vote.stops[0].person.name} stopped it.")
    if vote.filled < vote.needed and not glass.lets_go(vote, vote.rule):
        # A vote that was written past Placet is no lapse that people could mend by voting once more.
        forged = any(not said.holds() for said in approval.decisions.filter(revision=revision.number))
        code = "tampered" if forged else "votes_fall_short"
        return NotCleared(code, f"The votes no longer meet rule {vote.rule['id']}.")
    return UNEXPLAINED if unexplained(vote, vote.able, vote.yeses) else None


def _call(vote: votes.Ballot, ruling: Any, args: bytes) -> NotCleared | None:
    """Whether the rules, that of its day and that of today, let an approved call go at this moment."""
    approval, now = vote.approval, ruling.read_at
    opinion = policies.judge(approval.workspace_id, tool=ruling.tool, agent=ruling.agent, args=canonical.parse(args))
    if opinion.verdict == "deny":
        return NotCleared("policy_changed", f"Policy now refuses this call. {opinion.reason}".strip())
    if wait := moments.frozen(opinion.rule, now):
        return _not_yet(wait)  # before its age is looked at: people are asked again once, when the window is over
    rules = [vote.rule, *([opinion.rule] if opinion.verdict == "require_approval" and opinion.rule else [])]
    given = moments.given_at([*vote.yeses, *vote.overrides])
    first = moments.first_at(vote.yeses if vote.filled >= vote.needed else vote.overrides)
    if now >= _good_until(vote, ruling, moments.stale_at(rules, first, given), first):
        return NotCleared("expired", "The approval ran out before the call could run.")
    short = _short_of(vote, opinion) if opinion.rule not in (None, vote.rule) else None
    return short or _not_yet(moments.held_back(rules, given, now))


def _good_until(vote: votes.Ballot, ruling: Any, stale: datetime | None, given: datetime) -> datetime:
    """Until when the yeses are good: by the time that a rule gives, else by the deadline that was hashed; and longer by
    what stops froze of it."""
    if stale:
        return stale + halts.frozen(vote.approval.workspace_id, ruling.agent, given, ruling.read_at)
    hashed = datetime.fromisoformat(str(ruling.header["expiry"]))
    return hashed + timedelta(seconds=vote.approval.frozen_seconds)


def _short_of(vote: votes.Ballot, opinion: policies.Opinion) -> NotCleared | None:
    """Whether the votes fall short of a rule of today that is not the one they were given under."""
    if opinion.verdict == "allow" or opinion.rule is None:
        return None
    level = escalation.reached_by_both(vote.approval, vote.rule, opinion.rule, rows.now()) if vote.level else 0
    able = bars.eligible(vote.approval.workspace_id, opinion.rule, level=level)
    # The rule of today may ask for other seats, whose rights have to be explained as well.
    if unexplained(vote, able, vote.yeses):
        return UNEXPLAINED
    missing = vote.filled_under(opinion.rule, able) < len(bars.seats(opinion.rule))
    if missing and not glass.lets_go(vote, opinion.rule):
        return NotCleared("votes_fall_short", f"The votes do not meet rule {opinion.rule_id}, which asks now.")
    return None


def unexplained(vote: votes.Ballot, able: Eligible, given: list[Decision]) -> bool:
    """Whether one of these votes rests on a right, or on a seat that was lent, of which the ledger does not know."""
    holders: people.Able = {one.person_id: {} for one in given}
    lent: list[Absence] = []
    for one in given:
        holder = holders.setdefault(votes.holder(one), {})
        holder |= vote.seats_of(one, able)
        lent += [each.absence for each in vote.lent_for(one, able)]
    workspace_id = vote.approval.workspace_id
    return bool(vouched.unexplained_among(workspace_id, holders) or deputies.unexplained_among(workspace_id, lent))


UNEXPLAINED = NotCleared("tampered", "Somebody who approved has a right that no entry of the ledger gave.")
