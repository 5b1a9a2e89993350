"""Browsers without JavaScript: of somebody who proved a moment ago that it is them, or longer ago."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.test import Client

from approvals import assurance
from approvals.people import Person


def confirmed(person: Person, *, ago: float = 0, **more: Any) -> Client:
    """A browser that is signed in as a person who proved it so many seconds ago."""
    client = Client(**more)
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    session = client.session
    session[assurance.RECORDS] = [{"method": "password", "at": time.time() - ago}]
    session[assurance.OWNER] = str(person.pk)
    session.save()
    return client
