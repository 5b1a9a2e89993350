"""The words of each kind of approval, made once for every channel: what is shown, what the answers are called, and what
they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Kind:
    """What one kind is called, and its answers. ``name`` is empty for a call, whose risk is told instead; ``late``
    is what follows where nobody decides in time, ``meanwhile`` what the run does until then."""

    name: str
    proposed: str
    shown: str
    edits: str = "Edit what will run"
    approve: str = ""
    approved: str = "approved"
    approve_does: str = ""
    reject: str = "Reject"
    reject_does: str = ""
    rejected: str = "rejected it"
    after_no: str = "Nothing ran."
    after_nobody: str = "Nothing ran."
    comment_label: str = "Comment"
    comment: str = "needed to reject"
    hint: str = "What should the others, or the agent, know?"
    respond: str = "Answer in its place"
    respond_label: str = "Answer"
    respond_does: str = ""
    late: str = "nothing runs"
    meanwhile: str = ""

    @property
    def unanswered(self) -> str:
        """What is told once the deadline is over."""
        return f"Nobody decided in time, so {self.late}"


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
    edits="Change the variables",
    approve="Let it go on",
    approved="let it go on",
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
    late="the run waits for an operator",
    meanwhile="The run stands still. Nothing of its next step has happened.",
)
FINISH: Final = Kind(
    **{
        **BREAKPOINT.__dict__,
        "approve": "Let it finish",
        "approved": "let it finish",
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
    late="the agent is told so",
    meanwhile="The agent takes no further step until this is answered. Other calls of the same step go on.",
)
BUDGET: Final = Kind(
    name="Budget",
    proposed="",
    shown="What it may spend from now on",
    edits="Change the cap",
    approve="Raise the cap",
    approved="raised the cap",
    approve_does="The run goes on under this cap.",
    reject="Keep the cap",
    reject_does="With a no, what needed more is refused, and the agent is told.",
    rejected="kept the cap",
    after_no="What needed more was refused.",
    after_nobody="What needed more was refused.",
    comment="needed to keep the cap",
    late="what needs more is refused, and the agent is told",
    meanwhile="Nothing is sent that the cap does not cover.",
)
OUTCOME: Final = Kind(
    name="Outcome",
    proposed="",
    shown="What was sent",
    after_no="It stays unknown.",
    after_nobody="It is asked again.",
    comment_label="What you saw",
    hint="Its id there, or where you looked. The agent is told.",
    late="it is asked again",
    meanwhile="The run takes no further step until this is settled. Other calls of the same step go on.",
)
GRANT: Final = Kind(
    name="Standing grant",
    proposed="",
    shown="What would go without asking",
    approve="Give the grant",
    approved="gave the grant",
    approve_does="Until it ends, calls that fit are sent without asking anybody. Each use is written down.",
    reject_does="With a no, people are asked about each call, as now.",
    after_no="People are asked about each call.",
    after_nobody="People are asked about each call.",
    late="people are asked about each call, as now",
    meanwhile="Until it is given, people are asked about each call.",
)
CHANGE: Final = Kind(
    name="Change",
    proposed="proposed",
    shown="What would be in force",
    approve="Approve the change",
    approved="approved the change",
    approve_does="It comes into force at once, by the same press.",
    reject_does="With a no, everything stays as it is.",
    after_no="Nothing changed.",
    after_nobody="Nothing changed.",
    hint="What should the others, or whoever asks for it, know?",
    late="nothing changes",
    meanwhile="What is in force stays in force.",
)
_KINDS: Final = {
    "call": CALL,
    "breakpoint": BREAKPOINT,
    "breakpoint.finish": FINISH,
    "question": QUESTION,
    "budget": BUDGET,
    "outcome": OUTCOME,
    "grant": GRANT,
    "change": CHANGE,
}


@dataclass(frozen=True)
class Option:
    """One option of a choice: what it is called, what follows from it, the button that records it, and how the page and
    the run tell it afterwards."""

    label: str
    follows: str
    button: str
    state: str
    told: str


OPTIONS: Final = {
    "request_changes": Option("", "", "Request changes", "Changes requested", "requested changes"),
    "it_happened": Option(
        "It happened",
        "You found it there. The agent goes on as after a success, and is told who found it and what they saw.",
        "Record that it happened",
        "It happened",
        "found that it happened",
    ),
    "send_again": Option(
        "Send it again",
        "You found nothing there. Everything is checked once more, then it is sent under the same key. If the first "
        "sending arrived after all and the tool does not honour the key, it happens twice.",
        "Send it again",
        "Sent again",
        "had it sent again",
    ),
    "abandon": Option(
        "Abandon it",
        "Nothing more is sent. The agent is told that nobody knows whether it happened.",
        "Abandon it",
        "Abandoned",
        "gave it up",
    ),
}


def kind(name: str, tool: str = "") -> Kind:
    """The words of a kind; ``tool`` tells the kinds of breakpoint apart."""
    return _KINDS.get(tool) or _KINDS[name] if name == "breakpoint" else _KINDS[name]


def option(name: str) -> Option:
    """The words of an option."""
    plain = name.replace("_", " ").capitalize()
    return OPTIONS.get(name) or Option(plain, "", f"Record “{plain}”", plain, f"chose “{plain}”")
