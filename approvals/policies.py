"""Policy: a versioned document of ordered rules per workspace, and what it says of one proposed call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import bars, policy_shadow, rows, schemas
from approvals.ledger import canonical, entries, followed, keys
from approvals.people import Person, Workspace
from approvals.policy_documents import PolicyFault as PolicyFault
from approvals.policy_documents import read_document as read_document
from approvals.policy_documents import seconds as seconds
from approvals.rulings import UNPROVEN, Forged


class Policy(rows.Row):
    """One version of a workspace's policy. The highest version is in force; no row is ever changed."""

    PREFIX = "pol"
    WRITE_ONCE = True

    version = models.PositiveIntegerField()
    document = models.BinaryField()
    digest = models.CharField(max_length=64)
    author = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    mac = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "version"], name="one_policy_of_a_version")]

    @property
    def contents(self) -> dict[str, Any]:
        """The whole document with every default written out. Raises Forged when the row is not as it was saved."""
        signed = _signed(self)
        if not keys.holds("policy", signed, self.mac):
            raise Forged(f"Version {self.version} of the policy is not as it was saved.")
        return dict(_contents(bytes(self.document), self.digest, self.version))

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The rules in their order. Raises Forged."""
        return list(self.contents["rules"])


def _signed(policy: Policy) -> bytes:
    return canonical.encode([str(policy.workspace_id), policy.pk.hex, policy.version, policy.digest])


@lru_cache(maxsize=64)
def _contents(document: bytes, digest: str, version: int) -> Mapping[str, Any]:
    """A document, once it was found to have this digest. Remembered: every call that is proposed or sent asks, and
    nobody changes it."""
    if canonical.sha256_hex(document) != digest:
        raise Forged(f"Version {version} of the policy is not as it was saved.")
    contents: dict[str, Any] = canonical.parse(document)
    return contents


# Questions


@dataclass(frozen=True)
class Opinion:
    """What the policy in force says of one call. ``rule`` is None where no rule matched; ``shadow``: it would have
    asked people, and lets the call go."""

    verdict: str
    reason: str
    policy_version: int
    rule: dict[str, Any] | None = None
    shadow: bool = False

    @property
    def rule_id(self) -> str:
        return self.rule["id"] if self.rule else ""

    @property
    def asking(self) -> dict[str, Any] | None:
        """The rule, where it asks people or would, were it not for a shadow."""
        return self.rule if self.shadow or self.verdict == "require_approval" else None


@dataclass(frozen=True)
class Trial:
    """One rule tried on a call: whether it matches and, in a sentence, why."""

    rule_id: str
    matches: bool
    why: str


def current(workspace_id: UUID) -> Policy | None:
    """The policy in force."""
    return _CURRENT.first(workspace=workspace_id)


_CURRENT = rows.Ready(
    lambda: Policy.objects.filter(workspace_id=rows.Slot("workspace")).order_by("-version")[:1],
)


def current_version(workspace_id: UUID) -> int:
    """The version in force, 0 where there is none."""
    version = Policy.objects.filter(workspace_id=workspace_id).aggregate(models.Max("version"))["version__max"]
    return version or 0


_LOADED = followed.Followed(
    ["policy.loaded"], 0, lambda last, told: max([last, *(int(entry["version"]) for entry in told)])
)


def check_newest(workspace_id: UUID) -> None:
    """That the newest version which the ledger put in force is there. Raises Forged where somebody took it out of the
    database, so that an older one would rule, and ledger.about.Broken where the ledger proves nothing."""
    last, policy = _LOADED.of(workspace_id), current(workspace_id)
    if last > (policy.version if policy else 0):
        raise Forged(f"Version {last} of the policy was in force and is gone.")


def judge(workspace_id: UUID, *, tool: str, agent: str, args: Any, kind: str = "call", shadow: bool = True) -> Opinion:
    """What the policy in force says: the verdict of the first rule that matches. What no rule names is denied, and so
    is everything when a condition cannot be judged or the policy was tampered with. Never raises for a domain
    answer. ``shadow``: whether a call that people would be asked about goes while the document stands in shadow."""
    policy = current(workspace_id)
    if policy is None:
        return Opinion("deny", "This workspace has no policy yet, so no call is allowed.", 0)
    try:
        rules = policy.rules
    except UNPROVEN as fault:
        return Opinion("deny", str(fault), policy.version)
    opinion = judged(rules, policy.version, tool=tool, agent=agent, args=args, kind=kind)
    return _in_shadow(policy, opinion) if shadow and kind == "call" else opinion


def shadow_until(policy: Policy) -> datetime | None:
    """Until when this version asks nobody; None where it asks people already. Raises Forged."""
    end = policy_shadow.until(policy.contents)
    return end if end and end > rows.now() else None


def _in_shadow(policy: Policy, opinion: Opinion) -> Opinion:
    end = shadow_until(policy) if opinion.verdict == "require_approval" else None
    if end is None:
        return opinion
    told = f"Policy stands in shadow until {end:%Y-%m-%d %H:%M} UTC: rule {opinion.rule_id} would have asked people."
    return replace(opinion, verdict="allow", reason=told, shadow=True)


def judged(
    rules: Iterable[dict[str, Any]], version: int, *, tool: str, agent: str, args: Any, kind: str = "call"
) -> Opinion:
    """What these rules say, in force or not: ``version`` is 0 for rules that have none yet."""
    for rule in rules:
        matches, why = try_rule(rule, tool=tool, agent=agent, args=args, kind=kind)
        if matches is None:
            return Opinion("deny", f"Rule {rule['id']} cannot be judged: {why}", version, rule)
        if matches:
            return Opinion(rule["verdict"], rule["reason"], version, rule)
    policy = f"policy version {version}" if version else "this policy"
    return Opinion("deny", f"No rule of {policy} names {tool} with these arguments.", version)


def explain(workspace_id: UUID, *, tool: str, agent: str, args: Any) -> tuple[Opinion, list[Trial]]:
    """The opinion, and every rule up to the deciding one with the reason why it matched or not."""
    policy = current(workspace_id)
    opinion = judge(workspace_id, tool=tool, agent=agent, args=args)
    return opinion, tried(policy.rules if policy else [], tool=tool, agent=agent, args=args)


def tried(rules: Iterable[dict[str, Any]], *, tool: str, agent: str, args: Any, kind: str = "call") -> list[Trial]:
    """Every rule up to the deciding one, with the reason why it matched or not."""
    trials: list[Trial] = []
    for rule in rules:
        matches, why = try_rule(rule, tool=tool, agent=agent, args=args, kind=kind)
        trials.append(Trial(rule["id"], bool(matches), why))
        if matches is not False:
            break
    return trials


def try_rule(
    rule: Mapping[str, Any], *, tool: str, agent: str, args: Any, kind: str = "call"
) -> tuple[bool | None, str]:
    """Whether a rule matches, and why; None when its condition ran out of its budget, which counts as no permission.
    A rule without ``kind`` is about calls alone."""
    match = rule["match"]
    if kind not in match.get("kind", ["call"]):
        return False, f"it is about {_listed(match.get('kind', ['calls']))}, not a {kind}"
    if "tool" in match and tool not in match["tool"]:
        return False, f"it names {_listed(match['tool'])}, not {tool}"
    if "agent" in match and agent not in match["agent"]:
        return False, f"it names the agent {_listed(match['agent'])}, not {agent}"
    faults = schemas.validate(match["when"], args) if "when" in match else ()
    if any(fault.rule == "budget" for fault in faults):
        return None, "its condition took too long on these arguments"
    if faults:
        return False, f"{faults[0].pointer or 'the arguments'}: {faults[0].message}"
    return True, "tool, agent and arguments match"


def _listed(names: Sequence[str]) -> str:
    return " or ".join(names)


# Whether a change has to be approved


class NeedsApproval(Exception):
    """The policy wants people to approve such a change first. ``opinion`` is the rule that says so, or, where its
    verdict is deny, why nobody could be asked."""

    def __init__(self, what: str, opinion: Opinion) -> None:
        super().__init__(f"A change of this {what} has to be approved by people: rule {opinion.rule_id} says so.")
        self.what, self.opinion = what, opinion


def changing(workspace_id: UUID, what: str, document: Any) -> Opinion | None:
    """The rule that wants a change to this document approved; ``what`` is policy, team or tool. None where no rule is
    about it. Raises PolicyFault where the version in force is gone or not as it was saved: an older one, or none, could
    ask for less."""
    try:
        policy = _proven(workspace_id)
        rules = policy.rules if policy else []
    except UNPROVEN as fault:
        raise PolicyFault("", "gone", f"{fault} Nothing is changed before it is back.") from fault
    opinion = judged(
        rules, policy.version if policy else 0, tool=f"change.{what}", agent="", args=document, kind="change"
    )
    return opinion if opinion.rule else None


def _proven(workspace_id: UUID) -> Policy | None:
    """The newest version that was saved here: the last one of the ledger, or one of this transaction. Raises Forged,
    about.Broken."""
    last = _LOADED.of(workspace_id)
    newer = Policy.objects.filter(workspace_id=workspace_id, version__gte=max(last, 1)).order_by("-version")
    found = next((policy for policy in newer.iterator(8) if policy.version == last or _stands(policy)), None)
    if found is None and last:
        raise Forged(f"Version {last} of the policy was in force and is gone.")
    return found


# Verbs


def load(workspace: Workspace, text: str | bytes, *, by: str, author: Person | None = None) -> Policy:
    """Check a document (YAML or JSON) and put it in force as the next version; the same document again changes nothing.

    Raises PolicyFault, naming the place and the rule, for a document that is malformed, names an unknown team, or has
    a rule that nobody can satisfy, and NeedsApproval where the policy in force wants a change of it approved.
    """
    document = read_document(text)
    with rows.within(workspace):
        last = _locked(workspace)
        if last and bytes(last.document) == canonical.encode(document) and _stands(last):
            return last
        if asked := changing(workspace.pk, "policy", document):
            raise NeedsApproval("policy", asked)
        return put_in_force(workspace, document, by=by, author=author)


def put_in_force(workspace: Workspace, document: dict[str, Any], *, by: str, author: Person | None) -> Policy:
    """Make a document, with its defaults written out, the next version, whether or not a change has to be approved;
    inside an open `rows.within`. Raises PolicyFault where the people do not fit it."""
    last = _locked(workspace)
    bars.check_people(workspace.pk, document["rules"])
    encoded = canonical.encode(document)
    policy = Policy(workspace=workspace, version=(last.version if last else 0) + 1, document=encoded, author=author)
    policy.digest = canonical.sha256_hex(encoded)
    policy.mac = keys.sign("policy", _signed(policy))
    policy.save(force_insert=True)
    entries.append(
        workspace.pk, "workspace", "policy.loaded", {"version": policy.version, "digest": policy.digest}, by=by
    )
    for follow in IN_FORCE:
        follow(workspace.pk, last, policy)
    return policy


IN_FORCE: Final[list[Callable[[UUID, Policy | None, Policy], None]]] = []
"""What else changes with the policy, in its transaction: functions of the workspace, what was in force, and what is."""


def _stands(policy: Policy) -> bool:
    """Whether a version is as it was saved."""
    try:
        return bool(policy.contents)
    except UNPROVEN:
        return False


def _locked(workspace: Workspace) -> Policy | None:
    """What is in force, and nobody else makes a version until the transaction ends."""
    lock(workspace)
    return current(workspace.pk)


def lock(workspace: Workspace) -> None:
    """Let nobody else make a version until the transaction ends; what only refers to the workspace goes on."""
    Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
