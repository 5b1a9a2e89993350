"""Every kind of tampering, as it is done in the database by somebody who owns it. Each function gets a field whose run
has been allowed one call, which was sent, and is about to send the next, which Dana approved."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from approvals import halts, people, policies, rows
from approvals.decisions import Decision
from approvals.ledger import anchors, canonical, keys
from approvals.people import Team
from approvals.policy_documents import read_document
from approvals.revisions import current_revision, make_header
from approvals.rulings import Ruling
from runtime import definitions
from tests.campaigns.field import POLICY, Field, register

Tampering = Callable[[Field], None]


@dataclass(frozen=True)
class Kind:
    """One class of tampering: what is done, and whether that is before Dana says yes."""

    name: str
    does: Tampering
    held: bool


KINDS: Final[list[Kind]] = []


def kind(name: str, *, held: bool = False) -> Callable[[Tampering], Tampering]:
    def noted(function: Tampering) -> Tampering:
        KINDS.append(Kind(name, function, held))
        return function

    return noted


def by_sql(name: str, *statements: str) -> None:
    KINDS.append(Kind(name, lambda field: field.sql(*statements), False))


# Rows that say what may run


@kind("a call that ran is put back")
def put_back(field: Field) -> None:
    field.work()
    field.sql(
        "UPDATE runtime_call SET status = 'cleared', attempt_id = NULL, ended_at = NULL, consumed_seq = NULL"
        " WHERE run_id = %(run)s AND tool_name = 'tamper.asked'",
        "UPDATE approvals_approval SET outcome = 'none' WHERE workspace_id = %(workspace)s",
        "DELETE FROM runtime_attempt WHERE call_id IN (SELECT id FROM runtime_call WHERE run_id = %(run)s)",
    )


@kind("a call is transplanted to another run")
def call_transplanted(field: Field) -> None:
    other = field.play("tamper.asked")
    field.sql(
        "UPDATE runtime_call SET status = 'cancelled', consumed_seq = 1 WHERE run_id = %(other)s",
        "UPDATE runtime_call SET run_id = %(other)s, step = 9 WHERE run_id = %(run)s AND tool_name = 'tamper.asked'",
        other=other.pk,
    )
    field.run = other


by_sql(
    "a call's key is changed",
    "UPDATE runtime_call SET key = repeat('0', 64) WHERE run_id = %(run)s AND tool_name = 'tamper.asked'",
)


@kind("a ruling is forged", held=True)
def forged_ruling(field: Field) -> None:
    real = Ruling.objects.filter(workspace=field.workspace, tool="tamper.asked").latest("created_at")
    args, header = canonical.encode({"text": "evil"}), make_header(field.workspace.pk, approval="", revision=1)
    digest = canonical.action_digest(header, args)
    real.pk, real.verdict, real.header, real.digest = rows.uuid7(), "allow", header, digest
    real.args_digest = canonical.sha256_hex(args)
    real.save(force_insert=True)
    _clear(field, digest)


@kind("an approval is forged", held=True)
def forged_approval(field: Field) -> None:
    field.sql(
        "UPDATE approvals_approval SET status = 'approved', decided_at = now() WHERE workspace_id = %(workspace)s"
    )
    _clear(field, current_revision(field.approval()).digest)


@kind("a vote is forged", held=True)
def forged_vote(field: Field) -> None:
    approval = field.approval()
    revision = current_revision(approval)
    vote = Decision(workspace=field.workspace, approval=approval, revision=1, person=field.dana, turn=1)
    vote.verdict, vote.digest, vote.decided_via, vote.decided_at = "approve", revision.digest, "web", rows.now()
    vote.message, vote.mac = b"", keys.current().to_bytes(2, "big") + secrets.token_bytes(32)
    vote.save(force_insert=True)
    forged_approval(field)


@kind("a click is passed off as a sign-in of a moment ago")
def forged_assurance(field: Field) -> None:
    fresh = POLICY.replace("approvals: [", "assurance: fresh, approvals: [")
    policies.load(field.workspace, fresh, by="system")
    field.sql("UPDATE approvals_decision SET assurance = 'fresh' WHERE workspace_id = %(workspace)s")


@kind("a stop is taken away")
def stop_removed(field: Field) -> None:
    held = POLICY.replace("approvals: [", "hold_after: 1h, approvals: [")
    policies.load(field.workspace, held, by="system")
    field.stop()
    policies.load(field.workspace, POLICY, by="system")
    field.sql(
        "DELETE FROM approvals_decision WHERE workspace_id = %(workspace)s AND verdict = 'stop'",
        "UPDATE approvals_approval SET outcome = 'none', outcome_note = '' WHERE workspace_id = %(workspace)s",
        "UPDATE runtime_call SET status = 'cleared', ended_at = NULL WHERE run_id = %(run)s AND status = 'refused'",
    )


@kind("a stop of all agents is taken away")
def halt_removed(field: Field) -> None:
    halts.begin(field.workspace, by=None)
    field.sql("DELETE FROM approvals_halt WHERE workspace_id = %(workspace)s")


@kind("that a tool was switched off is cut out of the ledger together with its head")
def switching_removed(field: Field) -> None:
    definitions.switch_off(field.workspace, "tamper.asked", by=None)
    anchors.anchor()
    field.sql(
        "DELETE FROM approvals_entry WHERE workspace_id = %(workspace)s AND kind = 'tool.switched_off'",
        "UPDATE approvals_chain c SET seq = e.seq, hash = e.hash, mac = e.mac FROM approvals_entry e"
        " WHERE c.workspace_id = %(workspace)s AND c.name = 'workspace' AND e.chain_id = c.id AND e.seq = c.seq - 1",
    )


@kind("a glass is broken by nobody", held=True)
def forged_glass(field: Field) -> None:
    glass = "break_glass: {team: finance, review: {team: finance}}, approvals: ["
    policies.load(field.workspace, POLICY.replace("approvals: [", glass), by="system")
    field.run = field.play("tamper.asked")
    approval = field.approval()
    vote = Decision(workspace=field.workspace, approval=approval, revision=1, person=field.dana, turn=1)
    vote.verdict, vote.digest, vote.assurance = "override", current_revision(approval).digest, "fresh"
    vote.decided_via, vote.decided_at, vote.message = "web", rows.now(), b""
    vote.mac = keys.current().to_bytes(2, "big") + secrets.token_bytes(32)
    vote.save(force_insert=True)
    forged_approval(field)


@kind("a rehearsal is passed off as real", held=True)
def forged_rehearsal(field: Field) -> None:
    field.run = field.play("tamper.asked", rehearsal=True)
    field.approve()
    field.sql(
        "UPDATE runtime_run SET rehearsal = false WHERE id = %(run)s",
        "UPDATE approvals_approval SET rehearsal = false WHERE workspace_id = %(workspace)s",
        "UPDATE approvals_ruling SET header = header - 'rehearsal' WHERE workspace_id = %(workspace)s",
    )


@kind("a vote that was taken back is made to count again", held=True)
def taking_back_removed(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    finance = Team.objects.get(workspace=field.workspace, slug="finance")
    people.grant(field.mallory, "decide", finance, by="system")
    policies.load(field.workspace, POLICY.replace("team: finance", "team: finance, count: 2"), by="system")
    field.run = field.play("tamper.asked")
    field.approve()
    field.retract()
    field.sql("DELETE FROM approvals_decision WHERE workspace_id = %(workspace)s AND verdict = 'retract'")
    field.approve(field.mallory)


def _clear(field: Field, digest: str) -> None:
    field.sql(
        "UPDATE runtime_call SET status = 'cleared', digest = %(digest)s WHERE id = %(call)s",
        digest=digest,
        call=field.call().pk,
    )
    field.wake()


@kind("the arguments of another ruling are put in the place of these")
def arguments_swapped(field: Field) -> None:
    field.sql(
        "UPDATE approvals_ruling r SET args = o.args FROM approvals_ruling o WHERE r.workspace_id = %(workspace)s"
        " AND r.tool = 'tamper.asked' AND o.workspace_id = r.workspace_id AND o.tool = 'tamper.free'"
    )


@kind("the policy's row is changed")
def policy_changed(field: Field) -> None:
    allow = canonical.encode(read_document(ALLOW))
    field.sql("UPDATE approvals_policy SET document = %(allow)s WHERE workspace_id = %(workspace)s", allow=allow)


@kind("an older shadow is put back", held=True)
def older_shadow(field: Field) -> None:
    policies.load(field.workspace, f"shadow: {{until: '2126-01-01T00:00:00Z'}}\n{POLICY}", by="system")
    policies.load(field.workspace, POLICY, by="system")
    field.sql("DELETE FROM approvals_policy WHERE workspace_id = %(workspace)s AND version = 3")
    field.run = field.begin("tamper.asked")


@kind("the policy's newest version is removed")
def policy_removed(field: Field) -> None:
    policies.load(field.workspace, DENY, by="system")
    field.sql("DELETE FROM approvals_policy WHERE workspace_id = %(workspace)s AND version = 2")


DENY: Final = "policy: 1\nrules: [{id: none, match: {}, verdict: deny}]"
ALLOW: Final = "policy: 1\nrules: [{id: all, match: {}, verdict: allow}]"


@kind("a tool's endpoint is changed")
def endpoint_changed(field: Field) -> None:
    url = f'{{"url": "http://{field.stage.recorder.address}/{field.workspace.slug}/evil"}}'
    field.sql("UPDATE runtime_tool SET config = %(url)s WHERE workspace_id = %(workspace)s", url=url)


@kind("a tool's schema is changed")
def schema_changed(field: Field) -> None:
    field.sql(
        "UPDATE runtime_tool SET definition = replace(encode(definition, 'escape'), 'false', 'true')::bytea"
        " WHERE workspace_id = %(workspace)s"
    )


@kind("a tool is put back to an older version")
def older_tool(field: Field) -> None:
    register(field.stage, field.workspace, "asked", description="A later version.")
    for version, active in ((2, False), (1, True)):
        field.sql(
            "UPDATE runtime_tool SET is_active = %(active)s"
            " WHERE workspace_id = %(workspace)s AND name = 'tamper.asked' AND version = %(version)s",
            active=active,
            version=version,
        )
