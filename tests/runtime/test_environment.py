"""What the environment says of identity providers is read whole or not at all."""

from __future__ import annotations

import pytest

from runtime.environment import BadEnvironment, Environment

CORP = {
    "PLACET_OIDC": "corp",
    "PLACET_OIDC_CORP_ISSUER": "https://id.example",
    "PLACET_OIDC_CORP_CLIENT_ID": "placet",
    "PLACET_OIDC_CORP_CLIENT_SECRET": "s",
}


def test_a_provider_that_is_told_of_whole_is_known() -> None:
    known = Environment(CORP).providers("PLACET_OIDC")["corp"]
    assert (known["issuer"], known["domains"], known["max_age"]) == ("https://id.example", [], 0)


@pytest.mark.parametrize("name", [name for name in CORP if name != "PLACET_OIDC"])
def test_one_of_which_something_is_missing_lets_no_process_start(name: str) -> None:
    """CH-B34: neither who it is nor who we are there is guessed."""
    with pytest.raises(BadEnvironment, match=name):
        Environment({key: value for key, value in CORP.items() if key != name}).providers("PLACET_OIDC")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLACET_OIDC_CORP_ISSUER", "http://id.example"),
        ("PLACET_OIDC_CORP_ISSUER", "https://id.example?a=b"),
        ("PLACET_OIDC_CORP_ISSUER", "https://"),
        ("PLACET_OIDC_CORP_MAX_AGE", "soon"),
        ("PLACET_OIDC", "Corp"),
    ],
    ids=["in clear", "query", "no host", "no number", "capital"],
)
def test_what_cannot_be_one_lets_no_process_start(name: str, value: str) -> None:
    """CH-B34, WA-1: an issuer is an address that others cannot answer for."""
    with pytest.raises(BadEnvironment):
        Environment(CORP | {name: value}).providers("PLACET_OIDC")
