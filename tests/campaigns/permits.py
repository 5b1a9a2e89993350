"""Permits that nobody gave: rights, lent seats, agents' credentials and standing grants."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any, Final

from django.test import RequestFactory

from approvals import absences, granting, grants, people, policies, rescues, rows, vouched
from approvals.approvals import Approval
from approvals.decisions import decide
from approvals.deputies import Absence
from approvals.grants import Grant
from approvals.ledger import canonical, keys
from approvals.revisions import current_revision
from approvals.votes import Refused
from runtime import credentials, definitions
from tests.campaigns.field import POLICY, Field
from tests.campaigns.forgeries import kind


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


@kind("a team is made to look lost, to get into it past its rule", held=True)
def people_taken_away(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    people.grant(field.mallory, "administer", field.workspace, by="system")
    changes = "  - {id: changes, match: {kind: change}, verdict: require_approval, approvals: [{team: finance}]}"
    policies.load(field.workspace, f"{POLICY.rstrip()}\n{changes}\n", by="system")
    field.sql("DELETE FROM guardian_userobjectpermission WHERE user_id = %(dana)s", dana=field.dana.pk)
    finance = vouched.team(field.workspace.pk, "finance")
    assert finance is not None
    answer = rescues.announce(field.workspace, finance, field.mallory, by=field.mallory, reason="Nobody is left.")
    field.refused = answer.code if isinstance(answer, Refused) else ""


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
