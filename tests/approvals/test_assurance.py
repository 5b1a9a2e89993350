"""How sure a session makes us of its person."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from approvals import assurance, rows
from approvals.assurance import CLICK, FRESH_SECONDS, SESSION, Assurance, of_session

NOW = timezone.now()


def proof(method: str, ago: float, **more: Any) -> dict[str, Any]:
    return {"method": method, "at": NOW.timestamp() - ago, **more}


def visit(*proofs: Any, owner: str | None = None) -> Any:
    """A request of a person whose session holds these proofs."""
    person = SimpleNamespace(pk=rows.uuid7(), is_authenticated=True)
    session = {assurance.RECORDS: list(proofs), assurance.OWNER: owner or str(person.pk)}
    return SimpleNamespace(user=person, session=session)


def test_nobody_is_a_click_and_a_session_that_tells_nothing_is_a_session() -> None:
    nobody: Any = SimpleNamespace(user=AnonymousUser(), session={})
    assert of_session(nobody) == CLICK
    assert of_session(visit()) == SESSION


def test_a_sign_in_is_fresh_for_five_minutes_by_the_time_of_the_question() -> None:
    """WB-6: the page may have been open for hours; what counts is when the form arrives."""
    request = visit(proof("password", 0), proof("mfa", 0, type="totp"))
    now = of_session(request, at=NOW + timedelta(seconds=FRESH_SECONDS - 1))
    assert (now.level, now.methods) == ("fresh", ("password", "totp"))
    later = of_session(request, at=NOW + timedelta(seconds=FRESH_SECONDS))
    assert (later.level, later.methods) == ("session", ("password", "totp"))


def test_only_what_is_fresh_is_named_as_the_proof() -> None:
    seen = of_session(visit(proof("password", 4000), proof("mfa", 10, type="webauthn")), at=NOW)
    assert seen.level == "fresh" and seen.methods == ("passkey",)
    assert seen.at is not None and (NOW - seen.at).seconds == 10


def test_what_another_person_proved_in_this_session_proves_nothing() -> None:
    assert of_session(visit(proof("password", 1), owner=str(rows.uuid7())), at=NOW) == SESSION


@pytest.mark.parametrize(("auth_time", "level"), [(5, "fresh"), (4000, "session"), (None, "session")])
def test_a_provider_that_asked_long_ago_or_does_not_say_when_proves_nothing_fresh(
    auth_time: float | None, level: str
) -> None:
    """WA-2: signing in by a provider's old session is quick, and no proof of who sits there now."""
    asked = NOW.timestamp() - auth_time if auth_time is not None else None
    assert of_session(visit(proof("oidc", 5, auth_time=asked)), at=NOW).level == level


@pytest.mark.parametrize("torn", ["password", {"method": "password"}, {"method": "password", "at": "now"}, None])
def test_a_proof_that_cannot_be_read_is_none(torn: Any) -> None:
    assert of_session(visit(torn), at=NOW).level == "session"


def test_a_proof_from_the_future_is_none() -> None:
    assert of_session(visit(proof("password", -60)), at=NOW).level == "session"


def test_a_level_meets_itself_and_what_is_weaker_and_nothing_unknown() -> None:
    fresh = Assurance("fresh")
    assert all(fresh.satisfies(level) for level in ("click", "session", "fresh"))
    assert SESSION.satisfies("session") and not SESSION.satisfies("fresh") and not CLICK.satisfies("session")
    assert not fresh.satisfies("passkey") and not fresh.satisfies("")
