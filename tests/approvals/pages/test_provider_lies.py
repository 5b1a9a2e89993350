"""What an identity provider, or somebody between it and here, may answer that signs nobody in."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from approvals import assurance
from tests.approvals.pages.test_provider import link, there, told
from tests.approvals.test_signin import is_in
from tests.cast import Cast
from tests.oidc import CLIENT, Idp


def other_key(idp: Idp) -> None:
    idp.key = rsa.generate_private_key(65537, 2048)


def signed_with_the_public_key(idp: Idp) -> None:
    idp.alg, idp.key = "HS256", idp.own.public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1)


def signed_with_the_secret(idp: Idp) -> None:
    idp.alg, idp.key = "HS256", "a secret of the provider's client" * 2


def says(**claims: Any) -> Any:
    """A time is written as a `timedelta` from the test's own now: a test's name has no clock in it."""

    def lie(idp: Idp) -> None:
        now = int(time.time())
        idp.says = {k: now + int(v.total_seconds()) if isinstance(v, timedelta) else v for k, v in claims.items()}

    return pytest.param(lie, id=str(claims)[:40])


def knob(**what: Any) -> Any:
    def turn(idp: Idp) -> None:
        for name, value in what.items():
            setattr(idp, name, value)

    return pytest.param(turn, id=str(what)[:40])


LIES = [
    other_key,
    signed_with_the_public_key,
    signed_with_the_secret,
    knob(alg="none"),
    knob(state="another"),
    knob(state=""),
    knob(iss="https://evil.example"),
    knob(error="access_denied"),
    knob(known={"issuer": "https://evil.example"}),
    knob(known={"jwks_uri": "ftp://evil.example/keys"}),
    knob(known={"token_endpoint": None}),
    says(iss="https://evil.example"),
    says(aud="another-client"),
    says(aud=[CLIENT, "another-client"]),
    says(aud=[CLIENT, "another-client"], azp="another-client"),
    says(azp="another-client"),
    says(aud=None),
    says(exp=timedelta(hours=-1)),
    says(exp=None),
    says(iat=None),
    says(iat=timedelta(hours=1)),
    says(nbf=timedelta(hours=1)),
    says(nonce=None),
    says(nonce="another"),
    says(sub=None),
    says(sub=""),
    says(sub="x" * 256),
]


@pytest.mark.parametrize("lie", LIES)
def test_what_cannot_be_believed_signs_nobody_in(lie: Any, cast: Cast, idp: Idp) -> None:
    """WA-1: and nothing else is tried in its place (WA-7)."""
    link(idp, cast.dana)
    client = Client()
    answer = client.post("/accounts/oidc/corp/")
    lie(idp)
    answer = client.get(there(answer["Location"])) if answer.status_code == 302 else answer
    assert answer.status_code == 403 and not is_in(client)
    assert assurance.RECORDS not in client.session
    assert not told(cast, "signin.done")


def test_an_answer_counts_once_and_in_the_session_that_asked_alone(cast: Cast, idp: Idp) -> None:
    """CH-B41, CH-B44: a code that somebody else got is no use in this browser, nor ours in theirs."""
    link(idp, cast.dana)
    client, stranger = Client(), Client()
    back = there(client.post("/accounts/oidc/corp/")["Location"])
    assert stranger.get(back).status_code == 403
    stranger.post("/accounts/oidc/corp/")
    assert stranger.get(back).status_code == 403 and not is_in(stranger)
    assert client.get(back).status_code == 302 and client.get(back).status_code == 403
