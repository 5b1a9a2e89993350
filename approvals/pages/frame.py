"""What every page's frame shows: the reader's workspaces, how many approvals wait for them, and the server's time."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from approvals import people, places, workspaces
from approvals.pages import reader


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context for `base.html`; nothing is asked of the database before a template uses it."""
    user = getattr(request, "user", None)
    told: dict[str, Any] = {"server_now": timezone.now()}
    if user is None or not user.is_authenticated:
        return told
    workspace = getattr(request, "workspace", None)
    mine = getattr(request, "my_workspaces", None)
    told["my_workspaces"] = SimpleLazyObject(lambda: workspaces.of_person(user)) if mine is None else mine
    if workspace is not None:
        told["administers"] = SimpleLazyObject(lambda: people.may(user, "administer", workspace))
        told |= {"workspace": workspace, "waiting": SimpleLazyObject(lambda: reader.waiting(workspace, user))}
        told["places"] = SimpleLazyObject(lambda: list(places.of(workspace, user)))
    return told
