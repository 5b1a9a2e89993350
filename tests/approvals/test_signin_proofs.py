"""What whoever can write the database makes of somebody's sign-in: it opens nothing, and `ledger verify` names it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.hashers import make_password
from django.contrib.auth.management.commands import changepassword
from django.core import serializers
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from guardian.shortcuts import assign_perm

from approvals import assurance, departures, identities, invitations, people, providers, resets, rows, signin
from approvals import cast as forming
from approvals.identities import Identity
from approvals.invitations import Invitation
from approvals.ledger import entries
from approvals.people import Membership, Person
from approvals.providers import Claims
from approvals.votes import Refused
from tests.approvals.test_invitations import NEW, invite, join
from tests.approvals.test_signin import SECRET, code, is_in, sign_in
from tests.cast import PASSWORD, Cast, ask, refund, say
from tests.oidc import Idp

MALLORYS = "mallory@evil.example"


def named(cast: Cast) -> list[str]:
    """What `ledger verify` says of the sign-ins of a workspace."""
    return [*signin.unproven(cast.northwind.pk), *invitations.unproven(cast.northwind.pk)]


def test_what_placet_wrote_is_named_by_nothing(cast: Cast) -> None:
    totp.TOTP.activate(cast.dana, SECRET)
    identities.link(cast.priya, Claims("https://id.example", "priya", "", "", None))
    invite(cast, "other@northwind.example")
    departures.deactivate(cast.priya, by="system")
    signin.drop_factors(cast.dana, by="system")
    assert named(cast) == []


def test_an_invitation_that_was_used_is_named_by_nothing(cast: Cast) -> None:
    join(invite(cast))
    assert named(cast) == []


def test_a_password_put_in_the_place_of_another_is_none(cast: Cast) -> None:
    Person.objects.filter(pk=cast.dana.pk).update(password=make_password("of Mallory's choice"))
    assert not is_in(sign_in(cast.dana, "of Mallory's choice")[0])
    assert named(cast) == [f"The password of {cast.dana.email} was not set by Placet."]


def test_a_factor_of_somebody_else_is_none(cast: Cast) -> None:
    """WA-7: a row that Mallory added to her own account, moved to Dana's."""
    one = totp.TOTP.activate(cast.riley, SECRET).instance
    Authenticator.objects.filter(pk=one.pk).update(user=cast.dana)
    client, _ = sign_in(cast.dana)
    client.post("/accounts/factors/ask/", {"code": code()})
    assert not is_in(client)
    assert f"A factor of {cast.dana.email} (totp) was not added by Placet." in named(cast)


@pytest.mark.parametrize("left", [0, 1])
def test_a_factor_that_nobody_removed_is_missed(cast: Cast, left: int) -> None:
    """WA-7: the password alone does not become enough, nor a weaker factor in its place."""
    gone = totp.TOTP.activate(cast.dana, SECRET).instance
    if left:
        Authenticator.objects.create(user=cast.dana, type="recovery_codes", data={"seed": "00"})
    Authenticator.objects.filter(pk=gone.pk)._raw_delete(connection.alias)
    assert not is_in(sign_in(cast.dana)[0])
    assert named(cast) == [f"No entry removed the totp of {cast.dana.email} that is gone."]


def test_a_factor_that_was_removed_is_missed_by_nobody(cast: Cast) -> None:
    """Nor what became of it while the person was away, of which the workspace was not told."""
    for _ in range(2):
        totp.TOTP.activate(cast.dana, SECRET)
        signin.drop_factors(cast.dana, by="system")
    totp.TOTP.activate(cast.dana, SECRET)
    people.leave(cast.dana, cast.northwind, by="system")
    signin.drop_factors(cast.dana, by="system")
    people.join(cast.dana, cast.northwind, by="system")
    assert is_in(sign_in(cast.dana)[0]) and named(cast) == []


def test_an_identity_moved_to_another_person_is_nobody_s(cast: Cast) -> None:
    claims = Claims("https://id.example", "mallory", "", "", None)
    identities.link(cast.riley, claims)
    Identity.objects.update(person=cast.dana)
    assert identities.person_of(claims) is None
    assert named(cast) == [f"An identity of {cast.dana.email} at https://id.example was not linked by Placet."]


def test_who_was_switched_on_past_placet_does_not_come_in(cast: Cast) -> None:
    """CH-B116: nor by a session of theirs, which was ended."""
    client, _ = sign_in(cast.dana)
    departures.deactivate(cast.dana, by="system")
    Person.objects.filter(pk=cast.dana.pk).update(is_active=True)
    assert not is_in(client) and not is_in(sign_in(cast.dana)[0])
    departures.deactivate(cast.dana, by="system")
    departures.reactivate(cast.dana, by="system")
    assert is_in(sign_in(cast.dana)[0])


def test_an_address_written_past_placet_finds_nobody_and_no_link_sent_there_counts(cast: Cast) -> None:
    """Mallory points Dana's address at her own mailbox, asks for a new password, and puts it back."""
    Person.objects.filter(pk=cast.dana.pk).update(email=MALLORYS)
    assert Person.objects.at(MALLORYS) is None
    token = resets.make(Person.objects.get(pk=cast.dana.pk))
    assert not is_in(sign_in(Person.objects.get(pk=cast.dana.pk))[0])
    assert named(cast) == [f"The address {MALLORYS} was not set by Placet."]
    for address in (MALLORYS, cast.dana.email):
        Person.objects.filter(pk=cast.dana.pk).update(email=address)
        assert resets.open_with(token) is None
    assert is_in(sign_in(cast.dana)[0])


def test_no_identity_and_no_invitation_finds_somebody_by_an_address_written_past_placet(cast: Cast, idp: Idp) -> None:
    token = invite(cast, MALLORYS)
    Person.objects.filter(pk=cast.riley.pk).update(email=MALLORYS)
    claims = Claims(idp.issuer, "sub-mallory", MALLORYS, "", None)
    assert identities.candidate(replace(providers.every()[0], domains=("evil.example",)), claims) is None
    welcome = invitations.open_with(token)
    assert welcome is not None and welcome.known is None
    answer = invitations.accept(welcome, Person.objects.get(pk=cast.riley.pk))
    assert isinstance(answer, Refused) and answer.code == "not_yours"


def put_back(text: str) -> None:
    """Rows as they were, by somebody who writes the database."""
    for row in serializers.deserialize("json", text):
        row.save()


def test_a_session_that_was_ended_is_not_brought_back(cast: Cast) -> None:
    """CH-B116: its person was switched off, and the row says no more of it."""
    client, _ = sign_in(cast.dana)
    assert is_in(client)
    departures.deactivate(cast.dana, by="system")
    Person.objects.filter(pk=cast.dana.pk).update(is_active=True, sign_outs=0)
    assert not is_in(client) and client.get("/w/northwind/").status_code == 302


def test_a_session_from_before_a_reset_is_not_brought_back_nor_is_the_password(cast: Cast) -> None:
    """AZ-17: neither while the reset is what happened last, nor once the new password is in place again."""
    client, _ = sign_in(cast.dana)
    old, _ = Person.objects.get(pk=cast.dana.pk), resets.use(resets.make(cast.dana), "a new battery of dana")
    new = Person.objects.get(pk=cast.dana.pk)
    for one in (old, new):
        Person.objects.filter(pk=one.pk).update(password=one.password, password_mac=one.password_mac, sign_outs=0)
        assert not is_in(client) and not is_in(sign_in(cast.dana)[0])
        assert bool(named(cast)) is (one is old)
    assert is_in(sign_in(cast.dana, "a new battery of dana")[0])


def test_a_password_that_was_changed_is_not_put_back(cast: Cast) -> None:
    old, client = Person.objects.get(pk=cast.dana.pk), sign_in(cast.dana)[0]
    form = {"oldpassword": PASSWORD, "password1": "a new battery of dana", "password2": "a new battery of dana"}
    assert client.post("/accounts/password/", form).status_code == 302 and is_in(client)
    Person.objects.filter(pk=cast.dana.pk).update(password=old.password, password_mac=old.password_mac)
    assert not is_in(client) and not is_in(sign_in(cast.dana)[0])
    assert named(cast) == [f"The password of {cast.dana.email} is one that was replaced."]


def test_an_identity_that_was_unlinked_and_put_back_is_nobody_s(cast: Cast) -> None:
    claims = Claims("https://id.example", "dana", "", "", None)
    identities.link(cast.dana, claims)
    kept = serializers.serialize("json", Identity.objects.all())
    identities.unlink(cast.dana, Identity.objects.get().pk)
    put_back(kept)
    assert identities.person_of(claims) is None
    assert named(cast) == [f"An identity of {cast.dana.email} at https://id.example was unlinked, and is back."]


def test_a_factor_that_was_removed_and_put_back_is_none(cast: Cast) -> None:
    """WA-7: her lost telephone, after somebody of Placet's took it away."""
    kept = serializers.serialize("json", [totp.TOTP.activate(cast.dana, SECRET).instance])
    signin.drop_factors(cast.dana, by="system")
    put_back(kept)
    client, _ = sign_in(cast.dana)
    client.post("/accounts/factors/ask/", {"code": code()})
    assert not is_in(client)
    assert named(cast) == [f"A factor of {cast.dana.email} (totp) was removed, and is back."]


def test_while_the_ledger_proves_nothing_nobody_is_signed_in(cast: Cast) -> None:
    """WA-7: one byte of it, for a moment, takes no second factor away; it is said why."""
    totp.TOTP.activate(cast.dana, SECRET)
    session, _ = sign_in(cast.priya)
    Authenticator.objects.filter(user=cast.dana)._raw_delete(connection.alias)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE approvals_chain SET mac = set_byte(mac, 4, get_byte(mac, 4) # 1) WHERE name = 'workspace'"
        )
    client, _ = sign_in(cast.dana)
    assert not is_in(client) and not is_in(session)
    assert "cannot be proved" in client.get("/accounts/login/").content.decode()


def test_a_session_without_the_factor_that_was_to_be_asked_for_comes_into_no_workspace(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WA-7: Mallory has Dana's password, and takes membership and factor away until she is in."""
    monkeypatch.setattr("approvals.signin.lasting._SKEW", timedelta(0))
    app = totp.TOTP.activate(cast.dana, SECRET).instance
    kept = serializers.serialize("json", [app, Membership.objects.get(person=cast.dana)])
    Authenticator.objects.filter(pk=app.pk)._raw_delete(connection.alias)
    Membership.objects.filter(person=cast.dana).delete()
    client, _ = sign_in(cast.dana)
    assert is_in(client)
    put_back(kept)
    assert not is_in(client) and client.get("/w/northwind/").status_code == 302


def test_a_membership_that_ended_and_is_put_back_opens_nothing(cast: Cast) -> None:
    """AZ-17: nor does it while somebody is signed in."""
    client, _ = sign_in(cast.dana)
    kept = serializers.serialize("json", [Membership.objects.get(person=cast.dana)])
    people.leave(cast.dana, cast.northwind, by="system")
    put_back(kept)
    assert client.get("/w/northwind/").status_code == 302 and not is_in(sign_in(cast.dana)[0])
    Membership.objects.filter(person=cast.dana).delete()
    people.join(cast.dana, cast.northwind, by="system")
    assert is_in(sign_in(cast.dana)[0])


@pytest.mark.parametrize("ended", ["withdrawn", "accepted"])
def test_an_invitation_that_was_opened_again_lets_nobody_in(cast: Cast, ended: str) -> None:
    """Its row says that it is open, and the ledger says that it ended."""
    token = invite(cast)
    if ended == "withdrawn":
        with rows.within(cast.northwind):
            invitations.withdraw_all(NEW, cast.northwind, "system")
    else:
        join(token)
        people.leave(Person.objects.get(email=NEW), cast.northwind, by="system")
    Invitation.objects.update(status="open")
    assert join(token)[1].status_code == 404 and cast.northwind.pk not in _homes(NEW)
    assert named(cast) == [f"The invitation of {NEW} is open, and by the ledger it is not."]


def _homes(email: str) -> list[Any]:
    return list(Person.objects.filter(email=email).values_list("memberships__workspace_id", flat=True))


def test_a_right_to_invite_that_no_entry_gave_invites_nobody(cast: Cast) -> None:
    """Otherwise a forged right would beget real ones, with entries of their own."""
    assign_perm("administer", cast.riley, cast.northwind)
    answer = invitations.invite(cast.northwind, NEW, teams=["finance"], by=cast.riley)
    assert isinstance(answer, Refused) and answer.code == "not_allowed"


@pytest.mark.usefixtures("heard")
def test_nobody_decided_under_a_name_that_was_written_past_placet(cast: Cast) -> None:
    """AU-2: people are told who said yes by their names: another's shows nowhere, and is named."""
    assert named(cast) == []
    Person.objects.filter(pk=cast.dana.pk).update(name=cast.riley.name, name_mac=cast.riley.name_mac)
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    approval.refresh_from_db()
    assert approval.decided_by is not None
    assert (approval.decided_by.name, people.names([cast.dana.pk])) == (
        cast.dana.email,
        {cast.dana.pk: cast.dana.email},
    )
    assert named(cast) == [f"The name of {cast.dana.email} was not set by Placet."]
    cast.dana.name = "Dana Moss"
    cast.dana.save(update_fields=["name"])
    assert Person.objects.get(pk=cast.dana.pk).name == "Dana Moss" and named(cast) == []


def _by_provider(person: Person) -> Client:
    """Signed in by an identity a moment ago, and by nothing else."""
    client = Client()
    client.force_login(person)
    session = client.session
    session[assurance.RECORDS] = [{"method": "oidc", "at": time.time() - 60}]
    session[assurance.OWNER] = str(person.pk)
    session.save()
    return client


def test_an_identity_that_was_unlinked_and_is_put_back_keeps_no_session_alive(cast: Cast) -> None:
    """AU-2: nor does anybody confirm by it that it is them."""
    identities.link(cast.dana, Claims("https://id.example", "dana", "", "", None))
    client, other = _by_provider(cast.dana), sign_in(cast.dana)[0]
    kept = serializers.serialize("json", Identity.objects.all())
    assert is_in(client)
    identities.unlink(cast.dana, Identity.objects.get().pk)
    for one in serializers.deserialize("json", kept):
        one.save()
    assert not is_in(client) and is_in(other)
    assert identities.providers_of(cast.dana) == []


@pytest.mark.parametrize("by", ["changepassword", "people load"])
def test_a_password_that_an_operator_sets_ends_what_a_reset_ends(
    cast: Cast, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AU-2: sessions, and the old password for good, also where both are put back."""
    client, new = sign_in(cast.dana)[0], "a horse of another colour"
    old = {"password": cast.dana.password, "password_mac": cast.dana.password_mac}
    assert is_in(client)
    if by == "changepassword":
        monkeypatch.setattr(changepassword.Command, "_get_pass", lambda *_: new)
        call_command("changepassword", cast.dana.email, stdout=StringIO())
    else:
        forming.enrol(cast.dana.email, cast.dana.name, new, True)
    told = entries.read(cast.northwind.pk, "workspace", only=["signin.password_reset"])
    assert [one["by"] for one in told] == ["system"] and not is_in(client)
    Person.objects.filter(pk=cast.dana.pk).update(**old)
    assert not is_in(client) and not is_in(sign_in(cast.dana)[0])


def test_a_password_that_is_only_stored_anew_ends_nothing(cast: Cast) -> None:
    """By a better hash, at a sign-in: nobody set another one."""
    first = "django.contrib.auth.hashers.MD5PasswordHasher"
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher", first]):
        assert Person.objects.get(pk=cast.dana.pk).check_password(PASSWORD)
    assert Person.objects.get(pk=cast.dana.pk).password.startswith("pbkdf2_sha256$")
    assert not entries.read(cast.northwind.pk, "workspace", only=["signin.password_reset"])
