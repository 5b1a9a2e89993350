"""Every kind of tampering, as it is done in the database by somebody who owns it. Each function gets a field whose run
has been allowed one call, which was sent, and is about to send the next, which Dana approved."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.test import RequestFactory

from approvals import absences, granting, grants, halts, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decision, decide
from approvals.deputies import Absence
from approvals.grants import Grant
from approvals.ledger import anchors, canonical, entries, keys
from approvals.people import Team
from approvals.policy_documents import read_document
from approvals.revisions import current_revision, make_header
from approvals.rulings import Ruling
from runtime import credentials, definitions
from tests.campaigns.field import POLICY, Field, lay_out, register
from tests.columns import written

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


# Checkpoints

STEP: Final = "WHERE run_id = %(run)s AND seq"
ALL: Final = "goto, usage, fence, attempt_id, body, body_commit, prev_mac, mac, kind, node"

by_sql("a checkpoint's header is edited", f"UPDATE runtime_checkpoint SET goto = 'elsewhere' {STEP} = 2")
by_sql("a checkpoint's body is edited", f"UPDATE runtime_checkpoint SET body = set_byte(body, 20, 7) {STEP} = 2")
by_sql(
    "two checkpoints are swapped",
    f"UPDATE runtime_checkpoint SET seq = 99 {STEP} = 2",
    f"UPDATE runtime_checkpoint SET seq = 2 {STEP} = 3",
    f"UPDATE runtime_checkpoint SET seq = 3 {STEP} = 99",
)
by_sql("a checkpoint in the middle is deleted", f"DELETE FROM runtime_checkpoint {STEP} = 2")
by_sql(
    "the checkpoints' tail is cut",
    f"DELETE FROM runtime_checkpoint {STEP} = (SELECT head_seq FROM runtime_run WHERE id = %(run)s)",
)
BACK: Final = (
    "UPDATE runtime_run r SET head_seq = c.seq, head_mac = c.mac, verified_seq = c.seq FROM runtime_checkpoint c"
    " WHERE r.id = %(run)s AND c.run_id = r.id AND c.seq = 2"
)
by_sql("the run's head is moved back", BACK)


@kind("the checkpoints' tail is cut together with the head")
def cut_with_head(field: Field) -> None:
    anchors.anchor()
    field.sql(f"DELETE FROM runtime_checkpoint {STEP} > 2", BACK)


@kind("a checkpoint is transplanted from another run")
def from_another_run(field: Field) -> None:
    _transplant(field, field.play("tamper.free", "tamper.asked").pk)


@kind("a checkpoint is transplanted from another workspace")
def from_another_workspace(field: Field) -> None:
    other = lay_out(field.stage, f"{field.workspace.slug}-b").run.pk
    rows.enter(field.workspace)  # laying out a field stands in its own
    _transplant(field, other)


def _transplant(field: Field, other: Any) -> None:
    columns = ", ".join(f"{name} = o.{name}" for name in ALL.split(", "))
    field.sql(
        f"UPDATE runtime_checkpoint c SET {columns} FROM runtime_checkpoint o"
        " WHERE c.run_id = %(run)s AND c.seq = 2 AND o.run_id = %(other)s AND o.seq = 2",
        other=other,
    )


# The ledger

OF_RUN: Final = "WHERE chain_id = (SELECT id FROM approvals_chain WHERE name = %(chain)s) AND seq"
HEAD: Final = (
    "UPDATE approvals_chain c SET seq = e.seq, hash = e.hash, mac = e.mac FROM approvals_entry e"
    " WHERE c.name = %(chain)s AND e.chain_id = c.id AND e.seq = 3"
)

by_sql("an entry is edited", f"UPDATE approvals_entry SET kind = 'call.refused' {OF_RUN} = 2")
by_sql(
    "two entries are swapped",
    f"UPDATE approvals_entry SET seq = 99 {OF_RUN} = 2",
    f"UPDATE approvals_entry SET seq = 2 {OF_RUN} = 3",
    f"UPDATE approvals_entry SET seq = 3 {OF_RUN} = 99",
)
by_sql("an entry in the middle is deleted", f"DELETE FROM approvals_entry {OF_RUN} = 3")
by_sql("the ledger's tail is cut", f"DELETE FROM approvals_entry {OF_RUN} > 3")
by_sql("the ledger's head is moved", HEAD)


@kind("the ledger's tail is cut together with its head")
def cut_ledger_with_head(field: Field) -> None:
    anchors.anchor()
    field.sql(f"DELETE FROM approvals_entry {OF_RUN} > 3", HEAD)


@kind("the chain is written anew with a stolen key")
def written_anew(field: Field) -> None:
    anchors.anchor()
    told = entries.read(field.workspace.pk, field.run.public_id)
    field.sql(f"DELETE FROM approvals_entry {OF_RUN} > 0", "DELETE FROM approvals_chain WHERE name = %(chain)s")
    with rows.within(field.workspace):
        for entry in told:
            body = {name: value for name, value in entry.items() if name not in entries.RESERVED}
            entries.append(field.workspace.pk, field.run.public_id, entry["kind"], body, by=entry["by"])


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


@kind("a right is given past Placet", held=True)
def forged_right(field: Field) -> None:
    key = {"mallory": field.mallory.pk, "row": rows.uuid7()}
    field.sql(
        "INSERT INTO approvals_membership (id, workspace_id, person_id) VALUES (%(row)s, %(workspace)s, %(mallory)s)",
        "INSERT INTO guardian_userobjectpermission (object_pk, content_type_id, permission_id, user_id)"
        " SELECT object_pk, content_type_id, permission_id, %(mallory)s FROM guardian_userobjectpermission"
        " WHERE user_id = %(dana)s",
        dana=field.dana.pk,
        **key,
    )
    field.approve(field.mallory)


@kind("a seat is lent past Placet", held=True)
def forged_absence(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    field.sql(
        "INSERT INTO approvals_absence (id, workspace_id, kind, person_id, deputy_id, teams, starts_at, ends_at, mac)"
        " VALUES (%(row)s, %(workspace)s, 'delegation', %(dana)s, %(mallory)s, '[]', now() - interval '1 hour',"
        " now() + interval '1 hour', %(mac)s)",
        row=rows.uuid7(),
        dana=field.dana.pk,
        mallory=field.mallory.pk,
        mac=keys.current().to_bytes(2, "big") + secrets.token_bytes(32),
    )
    field.approve(field.mallory)


@kind("a lent seat that was taken back is put back", held=True)
def absence_put_back(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    until = rows.now() + timedelta(hours=1)
    lent = absences.announce(
        field.workspace, field.dana, kind="delegation", deputy=field.mallory, ends_at=until, by=field.dana
    )
    assert isinstance(lent, Absence)
    absences.end(lent, field.workspace, by=field.dana)
    field.sql("UPDATE approvals_absence SET ended_at = NULL WHERE workspace_id = %(workspace)s")
    field.approve(field.mallory)


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


@kind("a credential is forged", held=True)
def forged_credential(field: Field) -> None:
    agent = definitions.agent_named(field.workspace.pk, "player")
    assert agent is not None
    credentials.create(agent, by="system")
    secret = f"plk_{secrets.token_urlsafe(32)}"
    field.sql(
        "UPDATE runtime_agentcredential SET digest = %(digest)s WHERE workspace_id = %(workspace)s",
        digest=canonical.sha256_hex(secret.encode()),
    )
    if credentials.agent_of(RequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})):
        field.play("tamper.free")


@kind("a credential that was exchanged is put back", held=True)
def credential_put_back(field: Field) -> None:
    agent = definitions.agent_named(field.workspace.pk, "player")
    assert agent is not None
    made, secret = credentials.create(agent, by="system")
    field.sql("CREATE UNLOGGED TABLE IF NOT EXISTS old_credential AS TABLE runtime_agentcredential WITH NO DATA")
    mine = "WHERE id = %(made)s"
    field.sql(f"INSERT INTO old_credential SELECT * FROM runtime_agentcredential {mine}", made=made.pk)
    credentials.rotate(made, overlap=timedelta(0), by="system")
    field.sql(
        "UPDATE runtime_agentcredential c SET expires_at = o.expires_at, mac = o.mac FROM old_credential o"
        " WHERE c.id = o.id AND c.id = %(made)s",
        made=made.pk,
    )
    if credentials.agent_of(RequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})):
        field.run = field.begin("tamper.free")


# Standing grants

STANDING: Final = POLICY.replace("deadline: 1h", "deadline: 1h, standing: {for: 1h, uses: 1}")


def ask_for_grant(field: Field) -> Approval:
    """A standing grant for calls like the one that is held, which Dana asks for and has not given."""
    policies.load(field.workspace, STANDING, by="system")
    asked = granting.ask(field.workspace.pk, field.approval(), granting.Wish(), by=field.dana)
    assert isinstance(asked, Approval)
    return asked


def give_grant(field: Field) -> Grant:
    """The same, given."""
    asked = ask_for_grant(field)
    first = current_revision(asked)
    named: dict[str, Any] = {"revision": 1, "digest": first.digest, "via": "web"}
    decide(field.workspace.pk, asked.pk, by=field.dana, verdict="approve", **named)
    return Grant.objects.get(approval=asked)


@kind("a standing grant is approved past Placet", held=True)
def forged_grant(field: Field) -> None:
    asked = ask_for_grant(field)
    field.sql(
        "UPDATE approvals_approval SET status = 'approved', decided_at = now() WHERE id = %(asked)s", asked=asked.pk
    )
    field.run = field.begin("tamper.asked")


@kind("a standing grant is pointed at other bytes", held=True)
def grant_of_other_bytes(field: Field) -> None:
    """One that was given for a day, put in the place of one that has ended."""
    grant = give_grant(field)
    grants.end(grant, by="system")
    field.sql("UPDATE approvals_grant SET ended_at = NULL, until = now() + interval '9 d' WHERE id = %(g)s", g=grant.pk)
    field.run = field.begin("tamper.asked")


@kind("the uses of a standing grant are taken away", held=True)
def grant_uses_removed(field: Field) -> None:
    give_grant(field)
    field.play("tamper.asked")
    field.sql("DELETE FROM approvals_grantuse WHERE workspace_id = %(workspace)s")
    field.run = field.begin("tamper.asked")


TABLES: Final = {
    "runtime_run": "workspace_id",
    "runtime_call": "workspace_id",
    "runtime_attempt": "workspace_id",
    "runtime_checkpoint": "workspace_id",
    "approvals_chain": "workspace_id",
    "approvals_entry": "workspace_id",
    "approvals_approval": "workspace_id",
    "approvals_decision": "workspace_id",
}


@kind("an old state is put back whole")
def old_state(field: Field) -> None:
    mine = "WHERE workspace_id = %(workspace)s"
    for table in TABLES:
        field.sql(f"CREATE UNLOGGED TABLE IF NOT EXISTS old_{table} AS TABLE {table} WITH NO DATA")
        field.sql(f"INSERT INTO old_{table} SELECT * FROM {table} {mine}")
    field.work()
    anchors.anchor()
    for table in TABLES:
        kept = written(table)
        back = f"INSERT INTO {table} ({kept}) SELECT {kept} FROM old_{table} {mine}"
        field.sql(f"DELETE FROM {table} {mine}", back)
