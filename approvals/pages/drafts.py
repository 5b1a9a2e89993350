"""Drafts: what somebody typed into a decision's form before they were asked to confirm that it is them.

It waits in their session, which is closed at rest, and fills the same form when they come back. Nothing is decided by
coming back: the buttons are pressed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from approvals.approvals import Approval
from approvals.pages.door import Visit

KEY: Final = "draft"
MOST: Final = 200_000
"""The longest form that is kept, in characters; nobody types a longer one between two sign-ins."""
UNKEPT: Final = {"csrfmiddlewaretoken", "verdict"}


def keep(request: Visit, approval: Approval) -> None:
    """Keep the form that was just sent, in place of an earlier one."""
    fields = {name: value for name, value in request.POST.dict().items() if name not in UNKEPT}
    if sum(len(name) + len(str(value)) for name, value in fields.items()) <= MOST:
        request.session[KEY] = {"approval": approval.public_id, "fields": fields}


def of(request: Visit, approval: Approval) -> Mapping[str, Any] | None:
    """The form that waits for this approval, if one does."""
    kept = request.session.get(KEY)
    return kept["fields"] if kept and kept["approval"] == approval.public_id else None


def drop(request: Visit) -> None:
    """Forget it: it was sent."""
    request.session.pop(KEY, None)
