"""Erasing a person from a page: what goes, what stays, and whoever may not."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from approvals import comments, forgetting, people, rows, workspaces
from approvals.comments import Comment
from approvals.ledger import verify
from approvals.ledger.entries import Entry
from approvals.people import Person
from approvals.said import Decision
from approvals.votes import Refused
from tests.approvals.pages.conftest import Reads, at
from tests.cast import PASSWORD, Cast, ask, refund, say
from tests.confirmed import confirmed

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
PAGE = "/w/northwind/retention/person"


@pytest.fixture
def administrator(cast: Cast) -> Person:
    people.grant(cast.omar, "administer", cast.northwind, by="system")
    return cast.omar


def spoken(cast: Cast) -> Any:
    """An approval that Dana rejected with a reason, and commented."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "reject", message="They are known to me.")
    comments.leave(cast.northwind.pk, approval.pk, by=cast.dana, text="Ask their mother.", via="web")
    return approval


def press(cast: Cast, client: Any, **fields: str) -> Any:
    return client.post(PAGE, {"person": cast.dana.public_id, "typed": cast.dana.email} | fields)


def test_the_page_tells_what_goes_and_what_stays(cast: Cast, administrator: Person, reads: Reads) -> None:
    spoken(cast)
    html = reads(administrator).get(f"{PAGE}?person={cast.dana.public_id}").content.decode()
    assert "1 comment, 1 reason beside a verdict" in html and "1 decision, as those of an erased person" in html
    assert "name, address, password" in html and f'Type <span class="literal">{cast.dana.email}</span>' in html


def test_words_and_name_go_and_the_decision_stays(cast: Cast, administrator: Person, reads: Reads) -> None:
    approval = spoken(cast)
    answer = press(cast, confirmed(administrator))
    assert answer.status_code == 302
    html = reads(cast.priya).get(at(approval)).content.decode()
    assert "known to me" not in html and "mother" not in html and "Dana" not in html and "Rejected" in html
    with rows.reading(cast.northwind):
        assert bytes(Comment.objects.get().text) == b"" and Decision.objects.get().verdict == "reject"
    cast.dana.refresh_from_db()
    assert cast.dana.name == forgetting.NAME and "dana" not in cast.dana.email and not cast.dana.is_active
    assert authenticate(username="dana@northwind.example", password=PASSWORD) is None


def test_the_ledger_still_verifies_and_says_who_did_it(cast: Cast, administrator: Person) -> None:
    """What a person wrote was never in the chain."""
    spoken(cast)
    press(cast, confirmed(administrator))
    assert [one for verdict in verify.verify_workspace(cast.northwind.pk) for one in verdict.findings] == []
    with rows.reading(cast.northwind):
        body = bytes(Entry.objects.get(kind="person.erased").body)
    assert administrator.public_id.encode() in body and b'"words":2' in body


def test_who_belongs_elsewhere_too_keeps_the_account(cast: Cast, administrator: Person) -> None:
    spoken(cast)
    people.join(cast.dana, cast.halden, by="system")
    press(cast, confirmed(administrator))
    cast.dana.refresh_from_db()
    assert cast.dana.name.startswith("Dana") and cast.dana.is_active
    assert workspaces.all_keys_of(cast.dana) == [cast.halden.pk]


def test_it_takes_a_fresh_sign_in_and_the_address_typed(cast: Cast, administrator: Person, reads: Reads) -> None:
    answer = press(cast, reads(administrator))
    assert answer.status_code == 302 and "/accounts/confirm/" in answer["Location"]
    answer = press(cast, confirmed(administrator), typed="dana")
    assert answer.status_code == 422 and f"Type {cast.dana.email}, so that" in answer.content.decode()
    assert 'value="dana"' in answer.content.decode()
    cast.dana.refresh_from_db()
    assert cast.dana.is_active


@pytest.mark.parametrize(("who", "status"), [("priya", 403), ("oskar", 404)])
def test_nobody_else_erases_anybody(cast: Cast, who: str, status: int) -> None:
    assert press(cast, confirmed(getattr(cast, who))).status_code == status
    assert Person.objects.get(pk=cast.dana.pk).is_active


def test_nobody_erases_themselves_or_the_last_administrator(cast: Cast, administrator: Person) -> None:
    fields = {"person": administrator.public_id, "typed": administrator.email}
    answer = press(cast, confirmed(administrator), **fields)
    assert answer.status_code == 422 and "Somebody else has to erase you" in answer.content.decode()
    refused = forgetting.forget(cast.northwind, administrator, by=None)
    assert isinstance(refused, Refused) and refused.code == "last"


def test_somebody_of_another_workspace_is_not_to_be_found(cast: Cast, administrator: Person) -> None:
    answer = press(cast, confirmed(administrator), person=cast.oskar.public_id, typed=cast.oskar.email)
    assert answer.status_code == 404 and Person.objects.get(pk=cast.oskar.pk).is_active


def test_the_command_does_the_same(cast: Cast, capsys: Any) -> None:
    spoken(cast)
    call_command("people", "erase", cast.dana.email, "--workspace", "northwind")
    assert "2 texts are erased, the account with it. 1 decisions stay." in capsys.readouterr().out


def test_an_address_that_was_invited_is_not_in_the_ledger(cast: Cast) -> None:
    """Else it could never be erased."""
    from approvals import invitations

    invitations.invite(cast.northwind, "new@northwind.example", by=None)
    with rows.reading(cast.northwind):
        assert b"new@northwind" not in bytes(Entry.objects.get(kind="invitation.made").body)
