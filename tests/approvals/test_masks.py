"""Secrets are known by what the schema says, by their names, by their look, and by policy."""

from __future__ import annotations

import pytest

from approvals import masks

TEXT = {"type": "string"}


SECRET = [
    "password",
    "api_key",
    "apiKey",
    "X-Api-Key",
    "client_secret",
    "clientSecret",
    "accessToken",
    "Authorization",
    "PIN",
    "private_key",
    "API_KEY",
    "aws_secret_access_key",
    "webhookSecret",
    "refresh-token",
    "connectionString",
    "passcode",
]
HARMLESS = [
    "page_token",
    "nextToken",
    "skiptoken",
    "continuationToken",
    "tokenType",
    "project_key",
    "issueKey",
    "key",
    "author",
    "secretary",
    "monkey",
    "keyboard",
    "maxTokens",
    "passport",
    "secretName",
    "bypass",
    "pinned",
    "spinning",
]


@pytest.mark.parametrize("name", SECRET)
def test_names_of_secrets_are_masked(name: str) -> None:
    """AP-X7 RN-13 WB-9: however a name is written."""
    assert masks.masked(TEXT, name, f"/{name}") == "its name says so"


@pytest.mark.parametrize("name", HARMLESS)
def test_names_that_only_sound_like_secrets_are_shown(name: str) -> None:
    """AP-X2: a needless mask would hide what runs."""
    assert masks.masked(TEXT, name, f"/{name}") is None


@pytest.mark.parametrize("schema", [{"writeOnly": True}, {"x-secret": True}, {"type": "string", "format": "password"}])
def test_a_schema_can_mark_a_secret(schema: dict[str, object]) -> None:
    """RN-13: the tool's own word counts for any name."""
    assert masks.masked(schema, "note", "/note") == "the tool marks it secret"


def test_a_yes_or_no_is_no_secret() -> None:
    """RN-13: `isSecret: true` says that something else is one."""
    assert masks.masked({"type": "boolean"}, "password", "/password") is None
    assert masks.masked({"type": ["boolean", "null"]}, "secret", "/secret") is None


def test_numbers_are_secret_only_where_codes_are() -> None:
    """RN-13: 500 tokens are a count, a pin of 4471 is not."""
    assert masks.masked({"type": "integer"}, "tokens", "/tokens") is None
    assert masks.masked({"type": "integer"}, "pin", "/pin") == "its name says so"


def test_what_stands_inside_credentials_is_secret() -> None:
    """RN-13: also under names of its own."""
    assert masks.masked(TEXT, "value", "/credentials/0/value") == "it belongs to a secret"
    assert masks.masked({"type": "object"}, "credentials", "/credentials") is None


def test_a_policy_can_mask_a_place_and_all_below() -> None:
    """RN-13: by pointer."""
    assert masks.masked(TEXT, "note", "/body/note", also=["/body"]) == "policy masks it"
    assert masks.masked(TEXT, "note", "/body2/note", also=["/body"]) is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("sk_live_" + "a1" * 12, "it looks like a payment key"),
        ("ghp_" + "a" * 36, "it looks like a code host's token"),
        ("xoxb-1234567890-abc", "it looks like a chat token"),
        ("AKIA" + "A1" * 8, "it looks like a cloud key"),
        ("Bearer eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "it looks like a signed token"),
        ("text\n-----BEGIN RSA PRIVATE KEY-----\nMIIE", "it holds a private key"),
    ],
)
def test_keys_are_known_by_their_look(value: str, reason: str) -> None:
    """RN-13: the detector, whatever the field is called."""
    assert masks.looks_secret(value) == reason


@pytest.mark.parametrize("value", ["sk_live_short", "see ghp_tokens in the docs", "Bearer of news", "", None, 12])
def test_ordinary_values_do_not_look_like_keys(value: object) -> None:
    """AP-X2: the detector wants a whole, well-formed key."""
    assert masks.looks_secret(value) is None
