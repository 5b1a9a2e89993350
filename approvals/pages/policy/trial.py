"""Trying a call that nobody proposed: what a document says of it, by which rule, and what the version in force says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest

from approvals import bars, policies, policy_uses, schemas
from approvals.approvals import Approval
from approvals.channels.card import number
from approvals.ledger import canonical
from approvals.pages.policy import telling
from approvals.pages.policy.telling import Names
from approvals.pages.ruled import joined
from approvals.people import Membership, Person, Workspace
from approvals.policies import Opinion, Trial
from approvals.rows import bounded

MOST: Final = 100_000
"""The longest arguments that are tried, in characters."""


@dataclass(frozen=True)
class Tried:
    """What was typed, and what came of it; ``fault`` is what is wrong with the arguments. ``words`` say what the
    document says, ``before`` what the version in force says, empty where it is the same document."""

    typed: Mapping[str, str]
    fault: str = ""
    words: str = ""
    why: tuple[Trial, ...] = ()
    before: str = ""
    who: str = ""
    matched: str | None = None


def typed(request: HttpRequest) -> dict[str, str]:
    """The fields as they were sent."""
    sent = {name: request.POST.get(name, "").replace("\x00", "") for name in ("tool", "agent", "args", "requester")}
    return {name: value[: MOST if name == "args" else 200].strip() for name, value in sent.items()}


def tried(
    workspace: Workspace,
    said: Mapping[str, str],
    document: Mapping[str, Any],
    in_force: Mapping[str, Any],
    names: Names,
) -> Tried:
    """Try what was typed on a document, and on the one in force where that is another."""
    if not said["tool"]:
        return Tried(said, "Say which tool is called.")
    try:
        args = schemas.read_arguments(said["args"] or "{}")
    except canonical.Unrepresentable as fault:
        line = f"Line {fault.line}: " if fault.line else ""
        return Tried(said, f"The arguments are no JSON object. {line}{fault.message}")
    asked: dict[str, Any] = {"tool": said["tool"], "agent": said["agent"], "args": args}
    opinion = policies.judged(document["rules"], 0, **asked)
    was = policies.judged(in_force["rules"], 0, **asked)
    return Tried(
        said,
        words=told(opinion, names),
        why=tuple(policies.tried(document["rules"], **asked)),
        before=told(was, names) if document is not in_force else "",
        who=_who(workspace, opinion, said["requester"]),
        matched=opinion.rule_id,
    )


def told(opinion: Opinion, names: Names) -> str:
    """An opinion in a sentence: ``Asks two of Finance, by rule refunds.``"""
    rule = opinion.rule
    if rule is None:
        return "Refused: no rule matches."
    if opinion.verdict == "allow":
        return f"Allowed, by rule {rule['id']}."
    if opinion.verdict == "deny":
        because = f" {opinion.reason}" if opinion.reason else ""
        return f"Refused, by rule {rule['id']}.{because}"
    needs = [f"{number(need['count'])} of {telling.name_of(need['team'], names)}" for need in rule["approvals"]]
    return f"Asks {joined(needs)}, by rule {rule['id']}."


def _who(workspace: Workspace, opinion: Opinion, requester: str) -> str:
    """Who may say yes, in a sentence; nothing where nobody is asked."""
    if opinion.verdict != "require_approval" or opinion.rule is None:
        return ""
    able = bars.eligible(workspace.pk, opinion.rule)
    folk = Person.objects.filter(pk__in=able.own).order_by("name", "pk")
    barred = requester if opinion.rule["prevent_self_review"] else ""
    may = [one.name for one in folk if one.public_id != barred]
    return f"{joined(may, last='or')} may say yes." if may else "Nobody may say yes."


def choices(workspace: Workspace, *documents: Mapping[str, Any]) -> dict[str, Any]:
    """What the form offers: the tools and agents that rules name or that were asked about, and who may have asked."""
    rules = [rule["match"] for document in documents for rule in document["rules"]]
    lists = {
        word: sorted(
            {name for match in rules for name in match.get(word, ()) if "kind" not in match}
            | {name for name in bounded.values(Approval, word, workspace.pk, most=100) if name}
        )
        for word in ("tool", "agent")
    }
    members = Membership.objects.filter(workspace=workspace, person__is_active=True).select_related("person")
    folk = sorted((one.person for one in members[:200]), key=lambda person: person.name)
    return {"tools": lists["tool"], "agents": lists["agent"], "members": folk, "days": policy_uses.DAYS}
