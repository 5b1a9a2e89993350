"""The cast of the tests: one workspace with its people, and an outsider; the same names mean the same people
everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approvals import cast as forming
from approvals import gate, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused, decide
from approvals.ledger import canonical
from approvals.people import Person, Team, Workspace
from approvals.policies import Policy
from tests.standing import founded

PASSWORD = "correct horse battery staple"

POLICY = """
policy: 1
rules:
  - id: small-refunds
    match:
      tool: payments.create_refund
      when: {required: [amount], properties: {amount: {type: integer, maximum: 5000}}}
    verdict: allow
  - id: refunds
    match:
      tool: payments.create_refund
      when: {required: [amount], properties: {amount: {type: integer, maximum: 100000}}}
    verdict: require_approval
    approvals: [{team: finance}]
    editable: [/amount, /note]
    deadline: 1h
  - id: large-refunds
    match: {tool: payments.create_refund}
    verdict: require_approval
    approvals: [{team: finance, count: 2}]
    editor_may_approve: true
    deadline: 1h
  - id: no-closing
    match: {tool: payments.close_account}
    verdict: deny
    reason: An account is never closed by an agent.
"""

REFUND_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["charge", "amount", "currency"],
    "properties": {
        "charge": {"type": "string", "minLength": 1},
        "amount": {"type": "integer", "minimum": 1, "description": "In cents."},
        "currency": {"enum": ["eur", "usd"]},
        "note": {"type": ["string", "null"], "maxLength": 500},
    },
}
REFUND = gate.ToolFacts(
    name="payments.create_refund",
    title="Create a refund",
    definition_digest="d" * 64,
    schema=REFUND_SCHEMA,
    summary="Refund {/amount|money:/currency} for {/charge}",
    effect="keyed",
    risk="high",
)


@dataclass(frozen=True)
class Cast:
    """Dana and Priya decide for finance, Riley asks, Omar operates; Oskar belongs to another workspace."""

    northwind: Workspace
    halden: Workspace
    finance: Team
    dana: Person
    priya: Person
    riley: Person
    omar: Person
    oskar: Person
    policy: Policy


def assemble() -> Cast:
    """Write the cast into the database."""
    northwind = founded("northwind", "Northwind refunds")
    halden = founded("halden", "Halden Paper")
    finance = formed(northwind, "finance", "Finance")
    dana, priya, riley, omar = (
        _person(name, northwind) for name in ("Dana Okafor", "Priya Nair", "Riley Chen", "Omar Haddad")
    )
    oskar = _person("Oskar Lind", halden)
    for person in (dana, priya):
        people.grant(person, "decide", finance, by="system")
    for right in ("administer", "audit"):
        people.grant(omar, right, northwind, by="system")
    policy = policies.load(northwind, POLICY, by=omar.public_id, author=omar)
    return Cast(northwind, halden, finance, dana, priya, riley, omar, oskar, policy)


def formed(workspace: Workspace, slug: str, name: str = "") -> Team:
    """A team as the ledger knows it."""
    with rows.within(workspace):
        return forming.form(workspace, slug, name or slug.capitalize(), by="system")


def _person(name: str, workspace: Workspace) -> Person:
    first = name.split()[0].lower()
    person = Person.objects.create_user(f"{first}@{workspace.slug}.example", PASSWORD, name=name)
    people.join(person, workspace, by="system")
    return person


def refund(amount: Any = 42_000, **more: Any) -> dict[str, Any]:
    """The arguments of a refund; the amount in cents."""
    return {"charge": "ch_3PqT2eLk9fZ", "amount": amount, "currency": "eur", **more}


def propose(
    cast: Cast,
    args: dict[str, Any],
    *,
    requester: Person | None = None,
    tool: gate.ToolFacts = REFUND,
    rehearsal: bool = False,
) -> gate.Proposal:
    """A call as the machine proposes it, with fresh ids."""
    return gate.Proposal(
        workspace_id=cast.northwind.pk,
        subject=rows.public_id("call", rows.uuid7()),
        chain=rows.public_id("run", rows.uuid7()),
        agent="refund-desk",
        requester_id=(requester or cast.riley).pk,
        tool=tool,
        args=canonical.encode(args),
        context={"reason": "Two pallets arrived wet.", "messages": [], "title": "Ticket 4471"},
        rehearsal=rehearsal,
    )


def ask(cast: Cast, args: dict[str, Any], **more: Any) -> Approval:
    """Hold a call and return the approval that asks for it."""
    with rows.within(cast.northwind):
        held = gate.hold(gate.judge(propose(cast, args, **more)))
    assert held.approval_id is not None, held.reason
    key = rows.parse_id("apr", held.approval_id)
    assert key is not None
    return Approval.objects.get(pk=key)


def code(answer: object) -> str:
    """Why a verdict was refused; nothing where it was taken."""
    return answer.code if isinstance(answer, Refused) else ""


def say(
    approval: Approval, person: Person, verdict: str, *, message: str = "", edited: Any = None, **more: Any
) -> Decided | Refused:
    """Decide as a person who sees the approval as it stands in the database."""
    seen = Approval.objects.get(pk=approval.pk)
    revision = seen.revisions.get(number=seen.revision)
    facts: dict[str, Any] = {
        "revision": seen.revision,
        "digest": revision.digest,
        "via": "web",
        "message": message,
    } | more
    body = canonical.encode(edited) if isinstance(edited, dict) else edited
    return decide(seen.workspace_id, seen.pk, by=person, verdict=verdict, edited=body, **facts)
