"""A reader of the pages: signed in, with the forms of the page that was read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from approvals import rows
from approvals.approvals import Approval
from approvals.pages import care
from approvals.people import Person

Reads = Callable[..., Client]


@pytest.fixture
def reads() -> Reads:
    """`reads(person)`: a browser of that person's, without its JavaScript."""

    def open_client(person: Person | None, **more: Any) -> Client:
        client = Client(**more)
        if person is not None:
            client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
        return client

    return open_client


def at(approval: Approval, rest: str = "") -> str:
    """The address of an approval's page."""
    return f"/w/northwind/approvals/{approval.public_id}{rest}"


def form_of(approval: Approval, **fields: Any) -> dict[str, Any]:
    """The decision form as it is on the page now, read long enough and confirmed."""
    seen = Approval.objects.get(pk=approval.pk)
    digest = seen.revisions.get(number=seen.revision).digest
    opened = care.signed(digest, rows.now() - timedelta(minutes=1))
    return {"revision": seen.revision, "digest": digest, "opened": opened, "sure": "yes", "comment": ""} | fields


def tamper(approval: Approval) -> None:
    """What somebody does who adds rows to the database past Placet: a revision with arguments of another place."""
    first = approval.revisions.select_related("ruling").get(number=1)
    ruling = first.ruling
    ruling.pk, ruling.revision, ruling._state.adding = rows.uuid7(), 2, True
    ruling.save(force_insert=True)
    first.pk, first.number, first.ruling, first._state.adding = rows.uuid7(), 2, ruling, True
    first.save(force_insert=True)
    Approval.objects.filter(pk=approval.pk).update(revision=2)
