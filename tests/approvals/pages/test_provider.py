"""Signing in through an identity provider, tried against one that answers over HTTP."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from allauth.mfa.totp.internal import auth as totp
from django.test import Client

from approvals import assurance, identities, people
from approvals.identities import Identity
from approvals.ledger import entries
from approvals.people import Person
from approvals.providers import Claims
from tests.approvals.test_invitations import NEW, invite
from tests.approvals.test_signin import SECRET, code, is_in, old, sign_in
from tests.cast import Cast
from tests.oidc import Idp


def there(address: str) -> str:
    """What the browser does at the provider: where it is sent back to, as a path of ours."""
    back = urlsplit(httpx.get(address).headers["Location"])
    return f"{back.path}?{back.query}"


def by_provider(client: Client | None = None, path: str = "/accounts/oidc/corp/", **fields: Any) -> tuple[Client, Any]:
    """Go to the provider and come back."""
    client = client or Client()
    answer = client.post(path, fields)
    assert answer.status_code == 302, answer.content.decode()
    return client, client.get(there(answer["Location"]))


def link(idp: Idp, person: Person, subject: str = "sub-dana") -> None:
    identities.link(person, Claims(idp.issuer, subject, person.email))


def told(cast: Cast, kind: str) -> list[dict[str, Any]]:
    return [one for one in entries.read(cast.northwind.pk, "workspace") if one["kind"] == kind]


def test_a_linked_person_signs_in_and_comes_back_to_where_they_wanted(cast: Cast, idp: Idp) -> None:
    link(idp, cast.dana)
    client, answer = by_provider(next="/w/northwind/history")
    assert answer["Location"] == "/w/northwind/history" and is_in(client)
    assert told(cast, "signin.done")[-1]["methods"] == ["oidc"]
    asked = idp.asked[0]
    assert asked["code_challenge_method"] == "S256" and len(asked["nonce"]) > 40 and len(asked["state"]) > 40


def test_a_person_is_known_by_issuer_and_subject_and_never_by_address(cast: Cast, idp: Idp) -> None:
    """WA-1: whatever address the provider gives now."""
    link(idp, cast.dana)
    idp.email = "priya@northwind.example"
    client, _ = by_provider()
    assert client.get("/accounts/").context["user"] == cast.dana


def test_another_subject_with_the_same_address_is_nobody(cast: Cast, idp: Idp) -> None:
    """WA-1, CH-B33: an address that was given to somebody else over there."""
    link(idp, cast.dana)
    idp.subject = "sub-somebody-else"
    client, answer = by_provider()
    assert answer.status_code == 403 and not is_in(client) and Identity.objects.count() == 1


def test_the_same_subject_of_another_issuer_is_nobody(cast: Cast, idp: Idp) -> None:
    """WA-1: a subject means something at its issuer alone."""
    identities.link(cast.dana, Claims("https://other.example", "sub-dana"))
    idp.email = ""
    assert by_provider()[1].status_code == 403


def test_a_first_sign_in_links_only_after_a_yes(cast: Cast, idp: Idp) -> None:
    """WA-1, CH-B42: address verified, of an allowed domain, and confirmed."""
    client, answer = by_provider()
    assert answer["Location"] == "/accounts/oidc/first/" and not is_in(client)
    page = client.get("/accounts/oidc/first/").content.decode()
    assert "Is this you?" in page and not Identity.objects.exists()
    assert client.post("/accounts/oidc/first/")["Location"] == "/" and is_in(client)
    assert Identity.objects.get().person == cast.dana and len(told(cast, "identity.linked")) == 1
    assert client.post("/accounts/oidc/first/").status_code == 404


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_links_to_nobody(cast: Cast, idp: Idp, verified: Any) -> None:
    """WA-1: true is true alone."""
    idp.verified = verified
    assert by_provider()[1].status_code == 403 and not Identity.objects.exists()


def test_an_address_of_another_domain_links_to_nobody(cast: Cast, idp: Idp, settings: Any) -> None:
    """WA-1: also of a domain that only ends alike."""
    for domains in ([], ["example"], ["west.northwind.example"], ["wind.example"]):
        settings.PLACET_OIDC["corp"]["domains"] = domains
        assert by_provider()[1].status_code == 403
    assert not Identity.objects.exists()


def test_a_first_sign_in_of_somebody_with_a_second_factor_links_after_it_alone(cast: Cast, idp: Idp) -> None:
    """WA-7: a provider that lies gets no further than the password's thief."""
    totp.TOTP.activate(cast.dana, SECRET)
    client, _ = by_provider()
    assert client.post("/accounts/oidc/first/")["Location"] == "/accounts/factors/ask/"
    assert not is_in(client) and not Identity.objects.exists()
    client.post("/accounts/factors/ask/", {"code": code()})
    assert is_in(client) and Identity.objects.get().person == cast.dana


def test_somebody_signed_in_links_after_a_fresh_sign_in_and_a_yes(cast: Cast, idp: Idp) -> None:
    idp.email, idp.subject = "private@elsewhere.example", "sub-private"
    client, _ = sign_in(cast.dana)
    old(client)
    assert client.post("/accounts/oidc/corp/link/")["Location"].startswith("/accounts/confirm/")
    client, _ = sign_in(cast.dana)
    _, answer = by_provider(client, "/accounts/oidc/corp/link/")
    assert answer["Location"] == "/accounts/oidc/first/" and not Identity.objects.exists()
    client.post("/accounts/oidc/first/")
    assert Identity.objects.get().subject == "sub-private"


def test_a_subject_is_linked_to_one_person(cast: Cast, idp: Idp) -> None:
    link(idp, cast.dana)
    client, _ = sign_in(cast.priya)
    by_provider(client, "/accounts/oidc/corp/link/")
    assert client.post("/accounts/oidc/first/").status_code == 409 and Identity.objects.get().person == cast.dana


def test_an_invitation_is_accepted_with_an_identity(cast: Cast, idp: Idp) -> None:
    idp.subject, idp.email = "sub-nora", "nora@private.example"
    client, answer = by_provider(token=invite(cast))
    assert answer["Location"] == "/accounts/oidc/first/" and not Person.objects.filter(email=NEW).exists()
    assert client.post("/accounts/oidc/first/")["Location"] == "/w/northwind/" and is_in(client)
    nora = Person.objects.get(email=NEW)
    assert not nora.has_usable_password() and nora in people.deciders(cast.finance)
    assert is_in(by_provider()[0])


def test_the_way_back_is_a_path_of_this_site(cast: Cast, idp: Idp) -> None:
    """WB-10: there and back again."""
    link(idp, cast.dana)
    for way in ("https://evil.example/", "//evil.example", "/\\evil.example"):
        assert by_provider(next=way)[1]["Location"] == "/"
    assert parse_qs(urlsplit(Client().post("/accounts/oidc/corp/")["Location"]).query)["redirect_uri"] == [
        "http://localhost:8000/accounts/oidc/corp/callback/"
    ]


@pytest.mark.parametrize(
    ("asked", "said", "status"),
    [
        ({"acr": ["mfa"]}, {"acr": "mfa"}, 302),
        ({"acr": ["mfa"]}, {"acr": "pwd"}, 403),
        ({"acr": ["mfa"]}, {}, 403),
        ({"amr": ["otp"]}, {"amr": ["pwd", "otp"]}, 302),
        ({"amr": ["otp"]}, {"amr": ["pwd"]}, 403),
        ({"amr": ["otp"]}, {"amr": "otp"}, 403),
        ({"max_age": 600}, {}, 302),
        ({"max_age": 600}, {"auth_time": 1_000}, 403),
        ({"max_age": 600}, {"auth_time": None}, 403),
        ({"max_age": 600}, {"auth_time": True}, 403),
    ],
)
def test_how_and_when_is_checked_here(
    asked: dict[str, Any], said: dict[str, Any], status: int, cast: Cast, idp: Idp, settings: Any
) -> None:
    """WA-2: asked for on the way, and checked in what comes back."""
    link(idp, cast.dana)
    settings.PLACET_OIDC["corp"] |= asked
    idp.says = said
    assert by_provider()[1].status_code == status
    sent = {"acr": "acr_values", "amr": "scope", "max_age": "max_age"}[next(iter(asked))]
    assert sent in idp.asked[0]


def test_who_signs_in_there_alone_confirms_there_and_is_asked_again(cast: Cast, idp: Idp) -> None:
    """WA-2: the provider has to ask the person anew; one that does not say so confirmed nothing."""
    link(idp, cast.dana)
    cast.dana.set_unusable_password()
    cast.dana.save()
    client, _ = by_provider()
    old(client)
    answer = client.get("/accounts/totp/add/")
    assert answer["Location"].startswith("/accounts/oidc/corp/confirm/?next=")
    for auth_time, status in ((int(time.time()) - 4_000, 403), (None, 403), (int(time.time()), 302)):
        idp.says = {"auth_time": auth_time}
        answer = by_provider(client, "/accounts/oidc/corp/confirm/", next="/accounts/totp/add/")[1]
        assert answer.status_code == status
    assert idp.asked[-1]["prompt"] == "login" and idp.asked[-1]["max_age"] == "0"
    assert client.get("/accounts/totp/add/").status_code == 200


def test_who_has_a_second_factor_does_not_confirm_by_the_provider_instead(cast: Cast, idp: Idp) -> None:
    """WA-7: nothing weaker is taken, also where they know the address of the form, or add the factor meanwhile."""
    link(idp, cast.dana)
    client, _ = by_provider()
    before = list(client.session[assurance.RECORDS])
    asked = client.post("/accounts/oidc/corp/confirm/")["Location"]
    totp.TOTP.activate(cast.dana, SECRET)
    assert client.get("/accounts/oidc/corp/confirm/").status_code == 404
    assert client.get(there(asked)).status_code == 403
    assert list(client.session[assurance.RECORDS]) == before


def test_somebody_else_at_the_provider_confirms_nothing(cast: Cast, idp: Idp) -> None:
    link(idp, cast.dana)
    link(idp, cast.priya, "sub-priya")
    client, _ = by_provider()
    old(client)
    idp.subject = "sub-priya"
    assert by_provider(client, "/accounts/oidc/corp/confirm/")[1].status_code == 403
    assert client.get("/accounts/totp/add/").status_code == 302


def test_what_userinfo_says_is_of_the_same_subject(cast: Cast, idp: Idp) -> None:
    idp.in_token, idp.about = False, {"sub": "sub-other"}
    assert by_provider()[1].status_code == 403
    idp.about = {}
    assert by_provider()[1]["Location"] == "/accounts/oidc/first/"


def test_an_identity_that_was_written_past_placet_is_nobody_s(cast: Cast, idp: Idp) -> None:
    link(idp, cast.priya)
    Identity.objects.update(person=cast.dana)
    assert by_provider()[1].status_code == 403


def test_a_deactivated_person_is_not_let_in_by_their_provider(cast: Cast, idp: Idp) -> None:
    """AZ-17: the provider may not know yet."""
    link(idp, cast.dana)
    Person.objects.filter(pk=cast.dana.pk).update(is_active=False)
    assert by_provider()[1].status_code == 403


def test_the_last_way_in_is_not_unlinked(cast: Cast, idp: Idp) -> None:
    link(idp, cast.dana)
    key = Identity.objects.get().public_id
    client, _ = by_provider()
    stranger, _ = sign_in(cast.priya)
    assert stranger.post(f"/accounts/identities/{key}/unlink/").status_code == 404
    cast.dana.set_unusable_password()
    cast.dana.save()
    client, _ = by_provider()
    client.post(f"/accounts/identities/{key}/unlink/")
    assert Identity.objects.exists()
    cast.dana.set_password("a way in of their own")
    cast.dana.save()
    client, _ = by_provider()
    client.post(f"/accounts/identities/{key}/unlink/")
    assert not Identity.objects.exists() and told(cast, "identity.unlinked")


def test_a_provider_that_is_away_is_a_page_and_no_fault_of_ours(cast: Cast, idp: Idp, settings: Any) -> None:
    settings.PLACET_OIDC["corp"]["issuer"] = "http://127.0.0.1:9"
    answer = Client().post("/accounts/oidc/corp/")
    assert answer.status_code == 403 and "did not work" in answer.content.decode()


def test_one_that_nobody_configured_is_not_there(cast: Cast) -> None:
    for path in ("", "confirm/", "link/", "callback/"):
        client, _ = sign_in(cast.dana)
        for method in (client.get, client.post):
            assert method(f"/accounts/oidc/corp/{path}").status_code in {404, 405}
