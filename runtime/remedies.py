"""Remedies: what an operator does about a run that stands still, by why it does."""

from __future__ import annotations

from typing import Final

from runtime import failures
from runtime.runs import Run

REMEDIES: Final = {
    "unreadable": "Nothing was lost by it. Put back what is missing or was changed, then let the run go on.",
    "unusable": "Its agent cannot be made from its definition here. Put that right, then let the run go on.",
    "outcome_unknown": "Give somebody the right to settle what became of the call, then let the run go on.",
    "no_progress": "The workers’ logs say what ended them. Put that right, then let the run go on.",
    "breakpoint_expired": "When it goes on, people are asked anew.",
    "not_cleared": "When it goes on, people are asked anew.",
    "agent": "Mend the agent, then let the run go on from its last commit, or stop it for good.",
    "budget": "The budget does not cover the next step. Let the run go on to ask people again, or stop it for good.",
    failures.CODE: "Mend the agent, then let the run go on from its last commit, or stop it for good.",
}
"""Each a sentence, by the code of the reason."""
OTHERWISE: Final = "Let the run go on from its last commit, or stop it for good."


def of(run: Run) -> str:
    """What may be done about a failed or parked run; nothing for any other, and for one that is to end already."""
    if run.status not in {Run.Status.FAILED, Run.Status.PARKED} or run.cancel_by:
        return ""
    return REMEDIES.get(run.reason_code, OTHERWISE)
