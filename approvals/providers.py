"""Providers: identity providers that speak OpenID Connect, and what is believed of what they say.

The authorization code flow with PKCE. An answer is believed only if it was asked for by this session (state, nonce), is
signed by a key that the provider publishes, with an algorithm of public keys, and is for us, by it, and of now.
Sources: OpenID Connect Core 1.0, RFC 7636, RFC 9207.
"""

from __future__ import annotations

import base64
import hmac
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx
import jwt
from django.conf import settings
from django.db import connection

log = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""What an answer may be signed with: never by a shared secret, never with nothing."""
TIMEOUT: Final = 5.0
LEEWAY: Final = 30
"""Seconds by which the provider's clock may differ from ours."""
LARGEST: Final = 512 * 1024


class Untrusted(Exception):
    """The provider, or somebody in its name, said what is not to be believed; the message is for the log."""


@dataclass(frozen=True)
class Provider:
    """One provider, from the environment. ``domains`` are those whose addresses it may vouch for at a first sign-in;
    ``acr``, ``amr`` and ``max_age`` are asked of every sign-in where they are set."""

    short: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    title: str
    domains: tuple[str, ...] = ()
    acr: tuple[str, ...] = ()
    amr: tuple[str, ...] = ()
    max_age: int = 0


@dataclass(frozen=True)
class Claims:
    """What was proved of somebody: who they are there, and how and when they showed it."""

    issuer: str
    subject: str
    email: str = ""
    name: str = ""
    auth_time: float | None = None

    def address_in(self, domains: tuple[str, ...]) -> bool:
        """Whether it gives an address, which it has verified, in one of these domains."""
        return self.email.rpartition("@")[2].lower() in domains if self.email else False


# Questions


def every() -> list[Provider]:
    """The providers, in the order of the environment."""
    return [_provider(short, told) for short, told in settings.PLACET_OIDC.items()]


def named(short: str) -> Provider | None:
    told = settings.PLACET_OIDC.get(short)
    return _provider(short, told) if told else None


def _provider(short: str, told: Mapping[str, Any]) -> Provider:
    many = {name: tuple(told[name]) for name in ("domains", "acr", "amr")}
    return Provider(short, **{**told, **many})


# The way there and back


def begin(provider: Provider, back: str, *, fresh: bool = False) -> tuple[str, dict[str, Any]]:
    """Where to send the browser, and what the session has to keep until it comes back; with ``fresh`` the provider must
    ask the person again. Raises Untrusted if the provider does not answer as one."""
    kept = {"state": secrets.token_urlsafe(32), "nonce": secrets.token_urlsafe(32), "began": time.time()}
    kept |= {"verifier": secrets.token_urlsafe(48), "fresh": fresh, "short": provider.short}
    challenge = base64.urlsafe_b64encode(sha256(str(kept["verifier"]).encode()).digest()).rstrip(b"=").decode()
    asked = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": back,
        "scope": "openid email profile",
        "state": kept["state"],
        "nonce": kept["nonce"],
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if fresh:
        asked |= {"prompt": "login", "max_age": 0}
    elif provider.max_age:
        asked["max_age"] = provider.max_age
    if provider.acr:
        asked["acr_values"] = " ".join(provider.acr)
    there = _discovered(provider)["authorization_endpoint"]
    return f"{there}{'&' if urlsplit(there).query else '?'}{urlencode(asked)}", kept


def finish(provider: Provider, kept: Mapping[str, Any], said: Mapping[str, str], back: str) -> Claims:
    """Who came back. Raises Untrusted for anything that is not the answer to what this session asked."""
    if not hmac.compare_digest(said.get("state", "").encode(), str(kept["state"]).encode()):
        raise Untrusted("The state is not the one that was sent.")
    if "error" in said or not said.get("code"):
        raise Untrusted(f"The provider answered with an error: {said.get('error', 'no code')[:60]!r}.")
    if said.get("iss", provider.issuer) != provider.issuer:
        raise Untrusted("The answer names another issuer.")
    known = _discovered(provider)
    tokens = _exchanged(provider, known, said["code"], str(kept["verifier"]), back)
    claims = _proved(provider, known, str(tokens.get("id_token", "")), str(kept["nonce"]))
    _check_how(provider, claims, kept)
    return _claims(provider, claims, _about(known, tokens, claims))


def _discovered(provider: Provider) -> dict[str, Any]:
    known = _asked("GET", provider.issuer.rstrip("/") + "/.well-known/openid-configuration")
    if known.get("issuer") != provider.issuer:
        raise Untrusted("The provider describes itself as another issuer.")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        _check_address(provider, name, known.get(name))
    if "userinfo_endpoint" in known:
        _check_address(provider, "userinfo_endpoint", known["userinfo_endpoint"])
    return known


def _check_address(provider: Provider, name: str, address: Any) -> None:
    scheme = urlsplit(address).scheme if isinstance(address, str) else ""
    if scheme != "https" and scheme != urlsplit(provider.issuer).scheme:
        raise Untrusted(f"The provider's {name} is no https address.")


def _exchanged(provider: Provider, known: dict[str, Any], code: str, verifier: str, back: str) -> dict[str, Any]:
    sent = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
    ways = known.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    if "client_secret_basic" in ways:
        return _asked("POST", known["token_endpoint"], data=sent, auth=(provider.client_id, provider.client_secret))
    sent |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
    return _asked("POST", known["token_endpoint"], data=sent)


def _proved(provider: Provider, known: dict[str, Any], token: str, nonce: str) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS:
            raise Untrusted(f"The token is signed with {str(header.get('alg'))[:20]!r}.")
        claims: dict[str, Any] = jwt.decode(
            token,
            _key(known, header),
            algorithms=[header["alg"]],
            audience=provider.client_id,
            issuer=provider.issuer,
            leeway=LEEWAY,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as fault:
        raise Untrusted(f"The token does not hold: {fault}") from fault
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != provider.client_id:
        raise Untrusted("The token was made for another client.")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise Untrusted("The token answers another question.")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255 or "\x00" in claims["sub"]:
        raise Untrusted("The token names nobody.")
    return claims


def _key(known: dict[str, Any], header: dict[str, Any]) -> Any:
    """The published key that the token names; the only one where it names none. Raises Untrusted."""
    published = _asked("GET", known["jwks_uri"]).get("keys")
    fit = [one for one in published or [] if isinstance(one, dict) and one.get("use", "sig") == "sig"]
    if "kid" in header:
        fit = [one for one in fit if one.get("kid") == header["kid"]]
    if len(fit) != 1 or fit[0].get("kty") == "oct":
        raise Untrusted("The provider publishes no such key.")
    return jwt.PyJWK.from_dict(fit[0], algorithm=header["alg"]).key


def _check_how(provider: Provider, claims: dict[str, Any], kept: Mapping[str, Any]) -> None:
    """That the person signed in there as is asked, and when. Raises Untrusted."""
    if provider.acr and claims.get("acr") not in provider.acr:
        raise Untrusted("The person did not sign in there as is asked (acr).")
    amr = claims.get("amr")
    if provider.amr and not set(provider.amr) <= set(amr if isinstance(amr, list) else []):
        raise Untrusted("The person did not sign in there as is asked (amr).")
    most = 0 if kept["fresh"] else provider.max_age
    if kept["fresh"] or most:
        at = _auth_time(claims)
        if at is None or at < float(kept["began"]) - most - LEEWAY:
            raise Untrusted("The person was not asked again as is asked (auth_time).")


def _auth_time(claims: dict[str, Any]) -> float | None:
    at = claims.get("auth_time")
    return float(at) if isinstance(at, int | float) and not isinstance(at, bool) else None


def _about(known: dict[str, Any], tokens: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
    """What the provider says of the person: in the token, else where it is asked."""
    if "email" in claims or "userinfo_endpoint" not in known or not tokens.get("access_token"):
        return claims
    head = {"Authorization": f"Bearer {tokens['access_token']}"}
    about = _asked("GET", known["userinfo_endpoint"], headers=head)
    if about.get("sub") != claims["sub"]:
        raise Untrusted("The provider tells of somebody else.")
    return about


def _claims(provider: Provider, claims: dict[str, Any], about: dict[str, Any]) -> Claims:
    vouched = about.get("email_verified") is True and isinstance(about.get("email"), str)
    email = about["email"].strip().lower()[:254] if vouched else ""
    name = about["name"].strip()[:120] if isinstance(about.get("name"), str) else ""
    return Claims(provider.issuer, claims["sub"], email, name, _auth_time(claims))


def _asked(method: str, address: str, **what: Any) -> dict[str, Any]:
    """One request, and the JSON object that is the answer. Raises Untrusted."""
    if not connection.in_atomic_block:
        connection.close()  # a slow provider holds nobody up but who waits for it
    try:
        with httpx.Client(timeout=TIMEOUT, follow_redirects=False) as client:
            answer = client.request(method, address, **what)
        told = answer.json() if answer.status_code == 200 and len(answer.content) <= LARGEST else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as fault:
        raise Untrusted(f"The provider does not answer: {type(fault).__name__}") from fault
    if not isinstance(told, dict):
        raise Untrusted(f"The provider answers with status {answer.status_code} and no object.")
    return told
