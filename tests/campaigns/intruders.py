"""The ways in that whoever owns the database may make for themselves: each is tried at the sign-in, over its own pages,
and whoever comes in says yes to the call that waits for Dana."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any, Final

from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.hashers import make_password
from django.test import Client

from approvals import departures, identities, invitations, people, resets, rows, tokens
from approvals.ledger import keys
from approvals.pages import care
from approvals.people import Person
from approvals.providers import Claims
from approvals.resets import Reset
from approvals.revisions import current_revision
from approvals.votes import Refused
from tests.campaigns.field import Field
from tests.campaigns.forgeries import kind

STOLEN: Final = "Dana's own, which was stolen"
CHOSEN: Final = "of Mallory's own choice"
SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
CLAIMS: Final = Claims("https://id.example", "mallory", "", "", None)


@kind("a password is put in the place of another", held=True)
def forged_password(field: Field) -> None:
    field.sql(
        "UPDATE approvals_person SET password = %(it)s WHERE id = %(dana)s", it=make_password(CHOSEN), **_who(field)
    )
    _come_in(field, _with_password(field, CHOSEN))


@kind("a factor is moved to another person", held=True)
def forged_factor(field: Field) -> None:
    _gives_away_her_password(field)
    totp.TOTP.activate(field.mallory, SECRET)
    field.sql("UPDATE mfa_authenticator SET user_id = %(dana)s WHERE user_id = %(mallory)s", **_who(field))
    browser = _with_password(field, STOLEN)
    browser.post("/accounts/factors/ask/", {"code": totp.format_hotp_value(totp.hotp_value(SECRET, _step()))})
    _come_in(field, browser)


@kind("a factor is taken away", held=True)
def factor_taken(field: Field) -> None:
    _gives_away_her_password(field)
    totp.TOTP.activate(field.dana, SECRET)
    field.sql("DELETE FROM mfa_authenticator WHERE user_id = %(dana)s", **_who(field))
    _come_in(field, _with_password(field, STOLEN))


@kind("an identity is moved to another person", held=True)
def forged_identity(field: Field) -> None:
    identities.link(field.mallory, CLAIMS)
    field.sql("UPDATE approvals_identity SET person_id = %(dana)s WHERE person_id = %(mallory)s", **_who(field))
    field.shut_out = identities.person_of(CLAIMS) is None
    if not field.shut_out:
        field.approve(identities.person_of(CLAIMS))


@kind("an invitation is forged", held=True)
def forged_invitation(field: Field) -> None:
    token = _invited(field)
    forged = tokens.fresh()
    field.sql(
        "UPDATE approvals_invitation SET secret_hash = %(it)s WHERE secret_hash = %(was)s",
        it=tokens.hashed(forged),
        was=tokens.hashed(token),
    )
    _accept(field, forged)


@kind("an invitation is opened again", held=True)
def invitation_opened_again(field: Field) -> None:
    token = _invited(field)
    with rows.within(field.workspace):
        invitations.withdraw_all(NEWCOMER, field.workspace, "system")
    field.sql("UPDATE approvals_invitation SET status = 'open' WHERE workspace_id = %(workspace)s")
    _accept(field, token)


@kind("somebody invites by a right that was given past Placet", held=True)
def inviting_by_a_forged_right(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    people.grant(field.dana, "administer", field.workspace, by="system")
    field.sql(
        "INSERT INTO guardian_userobjectpermission (object_pk, content_type_id, permission_id, user_id)"
        " SELECT object_pk, content_type_id, permission_id, %(mallory)s FROM guardian_userobjectpermission"
        " WHERE user_id = %(dana)s AND object_pk = %(workspace)s::text",
        **_who(field),
    )
    answer = invitations.invite(field.workspace, NEWCOMER, teams=["finance"], by=field.mallory)
    field.shut_out = isinstance(answer, Refused)
    if not isinstance(answer, Refused):
        _accept(field, answer[1])


@kind("a reset of a password is forged", held=True)
def forged_reset(field: Field) -> None:
    token = tokens.fresh()
    made = Reset(person=field.dana, secret_hash=tokens.hashed(token), expires_at=rows.now() + timedelta(minutes=9))
    made.mac = keys.current().to_bytes(2, "big") + secrets.token_bytes(32)
    made.save(force_insert=True)
    _browser().post("/accounts/reset/", {"token": token, "password": CHOSEN})
    _come_in(field, _with_password(field, CHOSEN))


@kind("an address is changed until a new password was asked for", held=True)
def changed_address(field: Field) -> None:
    field.sql("UPDATE approvals_person SET email = 'mallory@evil.example' WHERE id = %(dana)s", **_who(field))
    token = resets.make(Person.objects.get(pk=field.dana.pk))
    field.sql("UPDATE approvals_person SET email = %(it)s WHERE id = %(dana)s", it=field.dana.email, **_who(field))
    _browser().post("/accounts/reset/", {"token": token, "password": CHOSEN})
    _come_in(field, _with_password(field, CHOSEN))


@kind("somebody is switched on again", held=True)
def switched_on_again(field: Field) -> None:
    _gives_away_her_password(field)
    departures.deactivate(field.dana, by="system")
    field.sql("UPDATE approvals_person SET is_active = true WHERE id = %(dana)s", **_who(field))
    _come_in(field, _with_password(field, STOLEN))


@kind("a session that ended with its person is brought back", held=True)
def session_brought_back(field: Field) -> None:
    _gives_away_her_password(field)
    browser = _with_password(field, STOLEN)
    departures.deactivate(field.dana, by="system")
    field.sql("UPDATE approvals_person SET is_active = true, sign_outs = 0 WHERE id = %(dana)s", **_who(field))
    _come_in(field, browser)


@kind("an old password is put back", held=True)
def old_password(field: Field) -> None:
    _gives_away_her_password(field)
    old = {"it": field.dana.password, "mac": bytes(field.dana.password_mac)}
    resets.use(resets.make(field.dana), CHOSEN)
    field.sql(
        "UPDATE approvals_person SET password = %(it)s, password_mac = %(mac)s WHERE id = %(dana)s",
        **old,
        **_who(field),
    )
    _come_in(field, _with_password(field, STOLEN))


@kind("a factor is taken away while the ledger is spoilt for a moment", held=True)
def factor_taken_in_the_dark(field: Field) -> None:
    _gives_away_her_password(field)
    totp.TOTP.activate(field.dana, SECRET)
    spoil = "UPDATE approvals_chain SET mac = set_byte(mac, 8, get_byte(mac, 8) # 1) WHERE workspace_id = %(workspace)s"
    field.sql("CREATE TABLE old_factor AS TABLE mfa_authenticator", "DELETE FROM mfa_authenticator", spoil)
    browser = _with_password(field, STOLEN)
    field.sql(spoil, "INSERT INTO mfa_authenticator OVERRIDING SYSTEM VALUE TABLE old_factor", "DROP TABLE old_factor")
    _come_in(field, browser)


@kind("the yes of somebody who was switched off is made to count again")
def old_yes_revived(field: Field) -> None:
    departures.deactivate(field.dana, by="system")
    field.sql("UPDATE approvals_person SET is_active = true, sign_outs = 0 WHERE id = %(dana)s", **_who(field))


NEWCOMER: Final = "newcomer@tamper.example"


def _who(field: Field) -> dict[str, Any]:
    return {"dana": field.dana.pk, "mallory": field.mallory.pk}


def _gives_away_her_password(field: Field) -> None:
    field.dana.set_password(STOLEN)
    field.dana.save()


def _step() -> int:
    return int(rows.now().timestamp()) // 30


def _browser() -> Client:
    return Client(SERVER_NAME="localhost")


def _with_password(field: Field, password: str) -> Client:
    browser = _browser()
    with rows.nowhere():
        browser.post("/accounts/login/", {"login": field.dana.email, "password": password})
    return browser


def _come_in(field: Field, browser: Client) -> None:
    """Say yes on the review page, as whoever this browser is signed in as, if as anybody."""
    approval = field.approval()
    revision = current_revision(approval)
    path = f"/w/{field.workspace.slug}/approvals/{approval.public_id}"
    seen = {"revision": revision.number, "digest": revision.digest, "verdict": "approve", "comment": ""}
    seen |= {"sure": "yes", "opened": care.signed(revision.digest, rows.now() - timedelta(minutes=1))}
    with rows.nowhere():
        field.shut_out = browser.get(path).status_code != 200
        browser.post(f"{path}/decision", seen)


def _invited(field: Field) -> str:
    made = invitations.invite(field.workspace, NEWCOMER, teams=["finance"], by=None)
    assert not isinstance(made, Refused), made
    return made[1]


def _accept(field: Field, token: str) -> None:
    browser = _browser()
    with rows.nowhere():
        browser.post("/accounts/join/", {"token": token, "name": "Newcomer", "password": CHOSEN})
    _come_in(field, browser)
