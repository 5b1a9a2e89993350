"""The pages of agents: credentials whose secrets are shown once, who operates an agent, and its stop."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client

from approvals import halts, people
from approvals.ledger import entries
from runtime import credentials
from runtime.credentials import AgentCredential
from tests.confirmed import confirmed
from tests.runtime.conftest import Desk
from tests.runtime.test_tool_pages import words

pytestmark = pytest.mark.committed
AGENTS = "/w/northwind/agents"


@pytest.fixture
def omar(desk: Desk) -> Client:
    return confirmed(desk.cast.omar)


def page_of(desk: Desk) -> str:
    return f"{AGENTS}/{desk.agent.public_id}"


def issue(client: Client, desk: Desk, **more: Any) -> Any:
    return client.post(f"{page_of(desk)}/credentials", {"label": "Nightly", "days": "30"} | more)


def secret_in(answer: Any) -> str:
    found = re.search(r"plk_[\w-]{20,}", answer.content.decode())
    return found[0] if found else ""


def opens(secret: str) -> bool:
    request = HttpRequest()
    request.META["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return credentials.agent_of(request) is not None


def test_the_list_leads_to_the_agent(omar: Client, desk: Desk) -> None:
    issue(omar, desk)
    page = omar.get(AGENTS)
    assert f'href="{page_of(desk)}"' in page.content.decode() and "scripted Scripted version 1 1 credential" in words(
        page
    )


def test_a_secret_is_shown_once_and_opens_what_it_is_for(omar: Client, desk: Desk) -> None:
    """AU-4: it stands on the answer to the press alone; neither in an address nor among the messages."""
    answer = issue(omar, desk, email="riley@northwind.example", per_minute="5")
    secret, page = secret_in(answer), omar.get(page_of(desk))
    assert opens(secret) and secret not in page.content.decode() and "no-store" in answer["Cache-Control"]
    assert "Nightly In use Asks on behalf of Riley Chen · 5 runs a minute" in words(page)
    assert entries.read(desk.cast.northwind.pk, "workspace", only=["credential.created"])[0]["by"] == (
        desk.cast.omar.public_id
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"days": "0"}, "A whole number from 1 to 3,650."),
        ({"days": "soon"}, "A whole number."),
        ({"per_minute": "-1"}, "A whole number."),
        ({"email": "nobody@x.example"}, "There is nobody with the address"),
        ({"email": "oskar@halden.example"}, "is no member of northwind"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_what_was_typed_stays(
    more: dict[str, str], said: str, omar: Client, desk: Desk
) -> None:
    answer = issue(omar, desk, **more)
    html = answer.content.decode()
    assert answer.status_code == 422 and said in html and 'value="Nightly"' in html and 'aria-invalid="true"' in html
    assert not AgentCredential.objects.exists()


def test_giving_one_out_takes_a_fresh_sign_in_and_what_was_typed_comes_back(desk: Desk) -> None:
    """WB-6."""
    client = confirmed(desk.cast.omar, ago=4000)
    way = issue(client, desk)["Location"]
    assert way.startswith("/accounts/") and "label%3DNightly" in way and not AgentCredential.objects.exists()
    assert 'value="Nightly"' in client.get(page_of(desk), {"label": "Nightly"}).content.decode()


def test_a_successor_works_beside_the_old_secret_for_a_while(omar: Client, desk: Desk) -> None:
    old = secret_in(issue(omar, desk))
    held = AgentCredential.objects.get()
    answer = omar.post(f"/w/northwind/credentials/{held.public_id}/exchange", {"overlap": "24"})
    assert answer.status_code == 200, words(answer)
    assert opens(old) and opens(secret_in(answer)) and secret_in(answer) != old
    assert "Being replaced" in words(omar.get(page_of(desk)))
    again = omar.post(f"/w/northwind/credentials/{held.public_id}/exchange", {"overlap": "24"})
    assert again.status_code == 422 and "It has a successor already" in words(again)


def test_a_revoked_one_opens_nothing_at_once(desk: Desk) -> None:
    secret = secret_in(issue(confirmed(desk.cast.omar), desk))
    held = AgentCredential.objects.get()
    late = confirmed(desk.cast.omar, ago=4000)  # to end is never the wrong way
    assert late.post(f"/w/northwind/credentials/{held.public_id}/revoke")["Location"] == page_of(desk)
    assert not opens(secret) and "is revoked." in words(late.get(page_of(desk)))
    late.post(f"/w/northwind/credentials/{held.public_id}/revoke")
    assert "It was revoked before." in words(late.get(page_of(desk)))


def test_who_neither_operates_nor_administers_sees_no_credential_and_gives_out_none(omar: Client, desk: Desk) -> None:
    """AZ-1."""
    issue(omar, desk)
    held, dana = AgentCredential.objects.get(), confirmed(desk.cast.dana)
    page = words(dana.get(page_of(desk)))
    assert (
        "Shown to those who operate this agent" in page and "Nightly" not in page and "Give it a credential" not in page
    )
    assert issue(dana, desk).status_code == 403
    for deed in ("exchange", "revoke"):
        assert dana.post(f"/w/northwind/credentials/{held.public_id}/{deed}", {"overlap": "1"}).status_code == 403
    assert AgentCredential.objects.get().revoked_at is None


def test_who_operates_an_agent_is_given_and_taken(omar: Client, desk: Desk) -> None:
    deed = {"person": desk.cast.riley.public_id}
    omar.post(f"{page_of(desk)}/operators", deed | {"do": "give"})
    assert people.may(desk.cast.riley, "operate", desk.agent)
    assert "Riley Chen operates scripted." in words(omar.get(page_of(desk)))
    omar.post(f"{page_of(desk)}/operators", deed | {"do": "take"})
    assert not people.may(desk.cast.riley, "operate", desk.agent)
    assert confirmed(desk.cast.dana).post(f"{page_of(desk)}/operators", deed | {"do": "give"}).status_code == 403
    stale = confirmed(desk.cast.omar, ago=4000).post(f"{page_of(desk)}/operators", deed | {"do": "give"})
    assert stale["Location"].startswith("/accounts/") and not people.may(desk.cast.riley, "operate", desk.agent)


def test_an_agent_is_stopped_and_let_go_on_from_its_page(omar: Client, desk: Desk) -> None:
    """HF-6."""
    back = {"agent": "scripted", "back": desk.agent.public_id}
    assert omar.post("/w/northwind/halt", back)["Location"] == page_of(desk)
    page = words(omar.get(page_of(desk)))
    assert "Omar Haddad stopped scripted." in page and "Let it go on" in page and "Stop it now" not in page
    omar.post("/w/northwind/halt/end", back)
    assert halts.on(desk.cast.northwind.pk) == [] and "Stop it now" in words(omar.get(page_of(desk)))
