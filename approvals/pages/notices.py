"""What the review page says first: why nothing was decided, or what became of the approval while it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from approvals.approvals import Approval
from approvals.decisions import Refused

if TYPE_CHECKING:
    from approvals.pages.told import Told

OF_THE_COMMENT: Final = {"needs_message", "message_too_long", "message_not_text"}
"""Refusals of what was written beside the verdict: they are shown at its field."""
UNFIT: Final = {"invalid_response", "unknown_choice"}

STATUS: Final = (
    {"not_found": 404, "needs_message": 422, "unconfirmed": 422, "too_fast": 429, "read_on": 429}
    | dict.fromkeys(("not_allowed", "self_review", "editor_cannot_approve", "needs_assurance"), 403)
    | dict.fromkeys((*UNFIT, "invalid_changes", *OF_THE_COMMENT), 422)
)
"""The HTTP status of a refused verdict, 409 for all others: the approval is no longer as the form had it."""

_FIELDS: Final = {"unconfirmed": "sure", "invalid_changes": "changes", **dict.fromkeys(OF_THE_COMMENT, "comment")}
_OVER: Final = "It needs no answer any more."
_DID: Final = {
    "rejected": "{who} said no while you were reading.",
    "answered": "{who} answered this while you were reading.",
    "expired": "Time ran out while you were reading.",
    "cancelled": "This was withdrawn while you were reading.",
    "superseded": "A newer approval took the place of this one while you were reading.",
}
_YES = "{who} gave the last yes while you were reading."


@dataclass(frozen=True)
class Notice:
    """What the panel says first: after a refusal, or when something changed under the reader.

    ``keeps``: an open page that is replaced tells beside it where it put what was typed.
    """

    text: str
    lead: str = ""
    tone: str = "wait"
    field: str = ""
    keeps: bool = False


def of(approval: Approval, answer: Refused) -> Notice:
    """Why nothing was decided; where a field of the form is at fault, at that field."""
    if answer.code in {"stale_revision", "wrong_digest"}:
        editor = approval.revisions.select_related("editor").get(number=approval.revision).editor
        lead = f"{editor.first_name} changed this while you were reading." if editor else "This is not what you saw."
        return Notice("Nothing was decided and your comment is kept. The changes are marked; now decide.", lead)
    if answer.code in _FIELDS:
        return Notice(answer.message, tone="bad", field=_FIELDS[answer.code])
    if answer.code in UNFIT:
        told = "Choose what became of it." if answer.code == "unknown_choice" else answer.message
        return Notice(told, tone="bad", field="answer")
    if answer.code == "too_late":
        return Notice(f"{answer.message} Your answer came after that and changed nothing.", "Too late.", "plain")
    return Notice(answer.message, "Nothing was decided.", "wait" if answer.code == "read_on" else "bad")


def overtaking(asked: Told) -> Notice:
    """Somebody edited what the open page still shows as it was."""
    editor = asked.current.editor.first_name if asked.current.editor else "Somebody"
    lead = f"{editor} changed this while you were reading."
    return Notice("Your comment is kept. See what changed, then decide.", lead)


def standing_still(asked: Told) -> Notice:
    """The reader of the open page may not decide any more, though it is not settled."""
    return Notice("What you typed stays here.", asked.why_not)


def settled(asked: Told, seen: str) -> Notice | None:
    """How it ended while the open page, at the version ``seen``, still asked; None where it had ended before."""
    if ".pending" not in seen or asked.pending:
        return None
    last = asked.approval.decided_by
    if last and last.pk == asked.reader.pk:
        return Notice(_OVER, "You answered this in another window.", "plain", keeps=True)
    who = last.first_name if last else "Somebody"
    lead = _DID.get(asked.state, _YES).format(who=who)
    return Notice(_OVER, lead, "plain", keeps=True)
