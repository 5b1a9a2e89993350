"""Changes of the policy, of who decides for a team, or of a tool, that people have to approve first.

Whether a change has to be is the policy's own to say, by a rule of kind `change`. The bytes that people vote on are the
document as it would be; it comes into force in the transaction of the last yes, after everything about that yes was
proved once more. A change that does not fit any more by then changes nothing, and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string

from approvals import (
    approvals,
    asked,
    bars,
    forming,
    outcomes,
    people,
    policies,
    policy_diff,
    policy_versions,
    questions,
    resolutions,
    rows,
    vouched,
)
from approvals.approvals import Approval, context_of
from approvals.clearance import Cleared, NotCleared, clearance
from approvals.ledger import about, canonical
from approvals.people import Membership, Person, Team, Workspace
from approvals.policies import NeedsApproval, Opinion
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

CHAIN: Final = resolutions.OF_THE_WORKSPACE
"""Changes belong to no run: what becomes of them stands in the workspace's own chain."""


class Unfit(Exception):
    """What was approved cannot come into force any more; the message is a sentence."""


@dataclass(frozen=True)
class Change:
    """What somebody wants to be in force: a ``document``, in the place of ``before``, None where there is nothing yet.
    ``what`` is policy, team or tool, ``name`` which one of them."""

    what: str
    name: str
    title: str
    document: dict[str, Any]
    before: dict[str, Any] | None = None

    @property
    def subject(self) -> str:
        """One open approval for each thing that can be changed."""
        return f"change:{self.what}:{canonical.sha256_hex(self.name.encode())[:24]}"


# Questions


def of_policy(workspace: Workspace, document: dict[str, Any]) -> Change:
    """A new version of the policy; what it takes the place of is the version that rules when it is asked."""
    number = policies.current_version(workspace.pk) + 1
    return Change("policy", "policy", f"Policy of {workspace.name}, version {number}", document)


def of_team(team: Team, *, joining: Person) -> Change:
    """Somebody more who decides for a team."""
    before = described(team)
    after = before | {"people": sorted([*before["people"], _named(joining)], key=lambda one: str(one["person_id"]))}
    return Change("team", vouched.called(team), f"Who decides for {team.name}"[:200], after, before)


def described(team: Team) -> dict[str, Any]:
    """A team as people approve it: everybody who may decide for it, under the name that the ledger formed it by. Raises
    ledger.about.Broken."""
    folk = sorted((_named(person) for person in people.deciders(team)), key=lambda one: one["person_id"])
    return {"team": vouched.called(team), "name": team.name, "people": folk}


def _named(person: Person) -> dict[str, str]:
    return {"person_id": person.public_id, "name": person.name, "email": person.email}


def waiting(workspace_id: UUID) -> list[Approval]:
    """The changes that people are asked about, oldest first."""
    found = Approval.objects.filter(workspace_id=workspace_id, kind=Approval.Kind.CHANGE, status="pending")
    return list(found.select_related("requester").order_by("created_at"))


def before(approval: Approval) -> dict[str, Any]:
    """What a change takes the place of. Raises Tampered, Forged."""
    if approval.tool == "change.policy":
        policy = policy_versions.numbered(approval.workspace_id, approval.revisions.get(number=1).ruling.policy_version)
        return dict(policy.contents) if policy else {"rules": []}
    was: dict[str, Any] = context_of(approval).get("before") or {}
    return was


def differences(approval: Approval, was: dict[str, Any], document: Any) -> list[str]:
    """In what the document differs from what it takes the place of, in full: people decide by it."""
    if approval.tool == "change.policy":
        return [each.full for each in policy_diff.differences(was, document)]
    if approval.tool == "change.team":
        old, new = ({one["person_id"]: one for one in each.get("people", [])} for each in (was, document))
        gone = [f"- {old[key]['name']} <{old[key]['email']}>" for key in old if key not in new]
        called = [] if was.get("name") == document["name"] else [f"* name: {was.get('name')} -> {document['name']}"]
        return called + gone + [f"+ {new[key]['name']} <{new[key]['email']}>" for key in new if key not in old]
    return [each.full for each in policy_diff.inside(was, document)]


# Asking


def propose(workspace: Workspace, change: Change, *, by: Person, reason: str = "") -> Approval | Refused:
    """Ask the people whom the policy names. ``by`` is who wants it, and, as a rule, cannot approve it. Refused where
    nobody has to be asked, where nobody could be, and where another change of the same thing waits."""
    with rows.within(workspace):
        rows.one_at_a_time(f"change {workspace.pk.hex} {change.subject}")
        if not Membership.objects.filter(workspace=workspace, person=by, person__is_active=True).exists():
            return Refused("not_allowed", f"{by.email} is no member of the workspace.")
        try:
            opinion = policies.changing(workspace.pk, change.what, change.document)
        except policies.PolicyFault as fault:
            return Refused("tampered", fault.message)
        if opinion is None:
            return Refused("not_needed", f"No rule wants a change of this {change.what} approved.")
        refusal = _unaskable(workspace, change, opinion, by)
        return refusal or _open(change, opinion, by, reason)


def held(workspace: Workspace, change: Change, *, by: Person, reason: str) -> asked.Held:
    """The same for the machine: the verdict is deny, with the reason, where nobody is asked."""
    answer = propose(workspace, change, by=by, reason=reason)
    if isinstance(answer, Approval):
        return asked.Held("require_approval", "", "", None, answer.public_id, answer.rule["reason"])
    return asked.Held("deny", "", "", None, None, answer.message)


def _unaskable(workspace: Workspace, change: Change, opinion: Opinion, by: Person) -> Refused | None:
    if opinion.verdict != "require_approval" or opinion.rule is None:
        return Refused("not_judged", opinion.reason)
    barred = [by.pk] if opinion.rule["prevent_self_review"] else []
    if not bars.satisfiable(workspace.pk, opinion.rule, without=barred):
        told = f"Rule {opinion.rule_id} needs more people than may decide it, so nobody could approve this change."
        return Refused("unsatisfiable", told)
    if other := Approval.objects.filter(workspace=workspace, subject=change.subject, status="pending").first():
        return Refused("waits_already", f"Another change of it waits: {other.public_id}. Withdraw that one first.")
    return None


def _open(change: Change, opinion: Opinion, by: Person, reason: str) -> Approval:
    assert opinion.rule is not None, "only a rule asks people"
    own = {"allowed_decisions": ["approve", "reject"], "editable": [], "editor_may_approve": False, "options": []}
    rule = opinion.rule | own
    question = questions.Question(
        subject=change.subject,
        chain=CHAIN,
        agent="",
        requester_id=by.pk,
        tool=f"change.{change.what}",
        tool_title=change.title,
        definition_digest=asked.definition_digest("change", {}, {}),
        schema={},
        summary="",
        effect="none",
        risk=rule.get("risk", "high"),
        args=canonical.encode(change.document),
        context={"reason": reason, "messages": [], "before": change.before},
        opinion=Opinion("require_approval", rule["reason"], opinion.policy_version, rule),
        kind="change",
    )
    return questions.open_approval(question, checkpoint_mac="", by=by.public_id)


def withdraw(workspace: Workspace, approval: Approval, *, by: Person | None) -> Refused | None:
    """Take a change back that waits: whoever wanted it may, those who administer the workspace, and, as None, an
    operator."""
    if by and by.pk != approval.requester_id and not vouched.may(by, "administer", workspace):
        return Refused("not_allowed", "Only who asked for it, and those who administer the workspace, may withdraw it.")
    with rows.within(workspace):
        who = by.public_id if by else "system"
        if not Approval.objects.select_for_update().filter(pk=approval.pk, status="pending").exists():
            return Refused("too_late", "It waits no more.")
        ended = approvals.cancel_open(
            workspace.pk, CHAIN, by=who, person=by, reason="It was withdrawn.", subject=approval.subject
        )
    return None if ended else Refused("too_late", "It waits no more.")


# Putting it in force


def resolved(resolution: resolutions.Resolution) -> bool:
    """People decided about a change, or nobody did in time: an approved one comes into force, by the same commit."""
    if resolution.status == Approval.Status.APPROVED:
        matter = (resolution.workspace_id, resolution.chain, resolution.subject)
        try:
            _apply(resolution)
        except Unfit as fault:
            outcomes.report(*matter, "failed", note=f"Nothing changed. {fault}", checkpoint_mac="")
        else:
            outcomes.report(*matter, "executed", note="", checkpoint_mac="")
    return True


@dataclass(frozen=True)
class Approved:
    """A change whose every vote was proved at this moment."""

    workspace: Workspace
    approval: Approval
    document: dict[str, Any]
    policy_version: int

    @property
    def by(self) -> str:
        """Who wanted it, by whose name it comes into force."""
        return self.approval.requester.public_id if self.approval.requester else "system"


def _apply(resolution: resolutions.Resolution) -> None:
    """Raises Unfit, before anything is written, where it cannot come into force."""
    cleared = clearance(resolution.workspace_id, resolution.subject, resolution.digest or "")
    if isinstance(cleared, NotCleared):
        raise Unfit(cleared.message)
    way = WAYS.get(cleared.tool) if cleared.header.get("kind") == "change" else None
    if way is None:
        raise Unfit("Nobody knows how to carry out such a change.")
    try:
        way(_proved(resolution, cleared))
    except UNPROVEN as fault:
        raise Unfit(str(fault)) from fault


def _proved(resolution: resolutions.Resolution, cleared: Cleared) -> Approved:
    workspace = Workspace.objects.get(pk=resolution.workspace_id)
    asked_by = Approval.objects.select_related("requester").filter(workspace=workspace, subject=resolution.subject)
    approval = asked_by.get(pk__in=[rows.parse_id(Approval.PREFIX, cleared.header["approval"])])
    return Approved(workspace, approval, canonical.parse(cleared.args), cleared.header["policy_version"])


def _policy(change: Approved) -> None:
    policies.lock(change.workspace)  # and then look: whoever makes a version meanwhile is waited for
    try:
        now = policies.changing(change.workspace.pk, "policy", change.document)
    except policies.PolicyFault as fault:
        raise Unfit(str(fault)) from fault
    if now is None or now.policy_version != change.policy_version:
        raise Unfit("Another version of the policy came into force since it was asked for.")
    try:
        author = change.approval.requester
        policies.put_in_force(change.workspace, change.document, by=change.by, author=author)
    except policies.PolicyFault as fault:
        raise Unfit(str(fault)) from fault


def _team(change: Approved) -> None:
    team = vouched.team(change.workspace.pk, change.document["team"])
    before = context_of(change.approval).get("before")
    if team is None or before is None or (_ids(described(team)), team.name) != (_ids(before), before["name"]):
        raise Unfit("Others decide for the team than when it was asked for, or it is called otherwise.")
    wanted = _ids(change.document)
    folk = {each.public_id: each for each in _members(change.workspace)}
    if missing := wanted - folk.keys():
        raise Unfit(f"{len(missing)} of them are no active members of the workspace.")
    for one in sorted(_ids(before) - wanted):
        people.revoke(folk[one], "decide", team, by=change.by)
    for one in sorted(wanted - _ids(before)):
        people.give(folk[one], "decide", team, by=change.by)
    forming.rename(team, change.document["name"], by=change.by)


def _ids(document: dict[str, Any]) -> set[str]:
    return {one["person_id"] for one in document["people"]}


def _members(workspace: Workspace) -> list[Person]:
    return list(Person.objects.filter(is_active=True, memberships__workspace=workspace))


def _tool(change: Approved) -> None:
    """Tools are the machine's to keep, by a plain function that says what does not fit, or nothing."""
    put: Callable[[UUID, dict[str, Any], dict[str, Any] | None, str], str] = import_string(
        settings.PLACET_TOOL_APPROVED
    )
    if problem := put(change.workspace.pk, change.document, context_of(change.approval).get("before"), change.by):
        raise Unfit(problem)


WAYS: Final[dict[str, Callable[[Approved], None]]] = {
    "change.policy": _policy,
    "change.team": _team,
    "change.tool": _tool,
}
"""What carries out a change of each sort; raises Unfit before it writes anything."""
resolutions.OWN["change"] = resolved


def _guard(person: Person, right: str, thing: Model) -> None:
    """Nobody gets to decide for a team past the rule that wants people to approve it. Raises NeedsApproval,
    PolicyFault."""
    if right == "decide" and isinstance(thing, Team):
        try:
            change = of_team(thing, joining=person)
        except about.Broken as fault:
            raise policies.PolicyFault("", "gone", str(fault)) from fault
        if opinion := policies.changing(thing.workspace_id, "team", change.document):
            raise NeedsApproval("team", opinion)


people.GIVING.append(_guard)
