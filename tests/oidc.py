"""An identity provider that speaks OpenID Connect over HTTP, in a thread: a real one at the wire, with knobs for all
that one may get wrong, or that somebody may do in its name."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "placet", "a secret of the provider's client"
OWN = rsa.generate_private_key(65537, 2048)


@dataclass
class Idp:
    """The provider. ``says`` is laid over the claims of the next token (None takes one out), ``about`` over those of
    userinfo, ``known`` over its description; ``alg`` is how the token is signed."""

    issuer: str = ""
    subject: str = "sub-dana"
    email: str = "dana@northwind.example"
    verified: Any = True
    says: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    alg: str = "RS256"
    key: Any = None
    kid: str = "k1"
    in_token: bool = True
    state: str | None = None
    iss: str | None = None
    error: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    exchanged: int = 0
    own: Any = field(default_factory=lambda: OWN)

    def description(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
        paths |= {"jwks_uri": "keys", "userinfo_endpoint": "userinfo"}
        told = {name: f"{self.issuer}/{path}" for name, path in paths.items()}
        return told | {"issuer": self.issuer} | self.known

    def keys(self) -> dict[str, Any]:
        own = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.own.public_key()))
        return {"keys": [own | {"kid": self.kid, "use": "sig"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to: the person is signed in there already."""
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        back = {"code": code, "state": asked["state"] if self.state is None else self.state}
        if self.error:
            back = {"error": self.error, "state": asked["state"]}
        if self.iss:
            back["iss"] = self.iss
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def token(self, sent: dict[str, str], authorization: str) -> dict[str, Any] | None:
        asked = self.codes.pop(sent.get("code", ""), None)
        right = f"Basic {base64.b64encode(f'{CLIENT}:{SECRET}'.encode()).decode()}"
        challenge = base64.urlsafe_b64encode(sha256(sent.get("code_verifier", "").encode()).digest()).rstrip(b"=")
        if asked is None or authorization != right or challenge.decode() != asked["code_challenge"]:
            return None
        if sent["redirect_uri"] != asked["redirect_uri"] or asked["code_challenge_method"] != "S256":
            return None
        self.exchanged += 1
        return {"access_token": "at", "token_type": "Bearer", "id_token": self._signed(asked)}

    def _signed(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": self.subject, "aud": CLIENT, "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], "auth_time": now} | (self.profile() if self.in_token else {})
        claims = {name: value for name, value in (claims | self.says).items() if value is not None}
        if self.alg == "none":
            return jwt.encode(claims, None, algorithm="none", headers={"kid": self.kid})  # type: ignore[arg-type]
        return jwt.encode(claims, self.key or self.own, algorithm=self.alg, headers={"kid": self.kid})

    def profile(self) -> dict[str, Any]:
        told = {"sub": self.subject, "email": self.email, "email_verified": self.verified, "name": "Dana Okafor"}
        return told | self.about


class Handler(BaseHTTPRequestHandler):
    idp: Idp

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.idp.authorize({k: v[0] for k, v in parse_qs(url.query).items()}))
            self.end_headers()
            return
        answers = {"/.well-known/openid-configuration": self.idp.description, "/keys": self.idp.keys}
        answers["/userinfo"] = self.idp.profile
        self._say(answers[url.path]() if url.path in answers else None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {k: v[0] for k, v in parse_qs(body).items()}
        self._say(self.idp.token(sent, self.headers.get("Authorization", "")))

    def _say(self, told: Any) -> None:
        self.send_response(200 if told is not None else 400)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(told or {"error": "invalid_request"}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """A test is quiet."""


@pytest.fixture
def idp(settings: Any) -> Iterator[Idp]:
    """A provider that Placet is told of, as `corp`; it may vouch for addresses of northwind.example."""
    provider = Idp()
    handler = type("OwnHandler", (Handler,), {"idp": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    settings.PLACET_OIDC = {"corp": {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET}}
    settings.PLACET_OIDC["corp"] |= {"title": "Corp", "domains": ["northwind.example"], "acr": [], "amr": []}
    settings.PLACET_OIDC["corp"]["max_age"] = 0
    yield provider
    server.shutdown()
    server.server_close()
