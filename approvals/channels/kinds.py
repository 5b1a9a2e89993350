"""The words of each kind of approval, made once for every channel: what is shown, what the answers are called, and what
they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Kind:
    """What one kind is called, and its answers. ``name`` is empty for a call, whose risk is told instead."""

    name: str
    proposed: str
    shown: str
    approve: str = ""
    approve_does: str = ""
    reject: str = "Reject"
    reject_does: str = ""
    rejected: str = "rejected it"
    after_no: str = "Nothing ran."
    after_nobody: str = "Nothing ran."
    comment: str = "needed to reject"
    respond: str = "Answer in its place"
    respond_label: str = "Answer"
    respond_does: str = ""
    unanswered: str = "Nobody decided in time, so nothing runs"


CALL: Final = Kind(
    name="",
    proposed="proposed",
    shown="What will run",
    respond="Answer in its place",
    respond_label="Your answer, in the place of the tool’s",
    respond_does="Nothing is sent. The agent goes on with your answer, and is told that it is yours.",
)
BREAKPOINT: Final = Kind(
    name="Breakpoint",
    proposed="",
    shown="Where the run stands",
    approve="Let it go on",
    approve_does="The run goes on with these variables.",
    reject="End the run",
    reject_does="With a no, the run ends.",
    rejected="ended the run",
    after_no="The run ended.",
    after_nobody="The run waits for an operator.",
    comment="needed to end the run",
    respond="Send it on with this",
    respond_label="Tell the agent something",
    respond_does="The next step gets your words.",
    unanswered="Nobody decided in time, so the run waits for an operator",
)
FINISH: Final = Kind(
    **{
        **BREAKPOINT.__dict__,
        "approve": "Let it finish",
        "approve_does": "The run is completed.",
        "respond": "Send it on with this",
        "respond_label": "Or tell the agent what is missing",
        "respond_does": "It goes on with your words in place of finishing.",
    }
)
QUESTION: Final = Kind(
    name="Question",
    proposed="asked",
    shown="What the agent asks",
    reject="Decline",
    reject_does="If you decline, it gets the comment.",
    rejected="declined to answer",
    after_no="The agent was told.",
    after_nobody="The agent was told.",
    comment="needed to decline",
    respond="Send the answer",
    respond_label="Your answer",
    respond_does="The agent goes on with your answer.",
    unanswered="Nobody answered in time, and the agent is told so",
)
BUDGET: Final = Kind(
    name="Budget",
    proposed="",
    shown="What it has and what it may spend",
    approve="Raise the cap",
    approve_does="The run goes on under this cap.",
    reject="Keep the cap",
    reject_does="With a no, what needed more is refused, and the agent is told.",
    rejected="refused more",
    after_no="What needed more was refused.",
    after_nobody="What needed more was refused.",
)
OUTCOME: Final = Kind(
    name="Outcome",
    proposed="",
    shown="What was sent",
    after_no="It stays unknown.",
    after_nobody="It is asked again.",
    unanswered="Nobody settled it in time, so it is asked again",
)
_KINDS: Final = {
    "call": CALL,
    "breakpoint": BREAKPOINT,
    "breakpoint.finish": FINISH,
    "question": QUESTION,
    "budget": BUDGET,
    "outcome": OUTCOME,
}

OPTIONS: Final = {
    "it_happened": ("It happened", "Record that it happened: the agent goes on as after a success."),
    "send_again": ("Send it again", "It did not happen: send it once more, under the same key."),
    "abandon": ("Leave it", "Record it as failed; nothing more is sent."),
}
"""The options of a choice: what each is called, and what follows from it."""


def kind(name: str, tool: str = "") -> Kind:
    """The words of a kind; ``tool`` tells the kinds of breakpoint apart."""
    return _KINDS.get(tool) or _KINDS[name] if name == "breakpoint" else _KINDS[name]


def option(name: str) -> tuple[str, str]:
    """What an option is called, and what follows from it."""
    return OPTIONS.get(name, (name.replace("_", " ").capitalize(), ""))
