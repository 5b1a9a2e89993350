"""The batch: several approvals answered together, where the policy lets that be.

First a list that decides nothing: what would be answered, with all that it is, and what would not, and why. Then every
verdict by itself through the one door, for the revision and digest that the list showed, and a list of what came of
each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from approvals import assurance, decisions, halts, revisions, rows, turns
from approvals.approvals import Approval
from approvals.assurance import Assurance
from approvals.decisions import Decided, Refused
from approvals.edits.table import Argument, table
from approvals.pages import care
from approvals.pages.cards import args_in, tool_of
from approvals.pages.door import Visit, member
from approvals.pages.entries import Entry, ballots, entry_of
from approvals.people import Person
from approvals.rulings import UNPROVEN
from approvals.votes import Ballot, too_late
from approvals.words import spoken

MOST: Final = 20
"""So many are answered together at most."""
LENGTH_MOST: Final = 1_000
"""So many bytes of arguments are read in a list; longer ones on their own page."""
VERDICTS: Final = {"approve": "Approved", "reject": "Rejected"}


@dataclass(frozen=True)
class Row:
    """One approval of the batch: what it is, why it is left out, what came of it."""

    entry: Entry
    revision: int
    digest: str
    arguments: list[Argument]
    left_out: str = ""
    result: str = ""
    refused: str = ""

    @property
    def value(self) -> str:
        """What the form sends of it: the approval, and exactly what was shown."""
        return f"{self.entry.public_id}~{self.revision}~{self.digest}"


@require_http_methods(["GET", "HEAD", "POST"])
@member
def batch(request: Visit) -> HttpResponse:
    """The list before, and with a form the list after."""
    if request.method == "POST":
        return _answered(request)
    asked = list(dict.fromkeys(request.GET.getlist("pick")))
    return _page(request, asked) if asked else redirect("inbox", request.workspace.slug)


def _page(request: Visit, asked: list[str], *, fault: str = "", status: int = 200) -> HttpResponse:
    with rows.within(request.workspace):
        listed = _rows(request, asked[:MOST])
    more = {"fault": fault, "comment": _comment(request), "too_many": max(0, len(asked) - MOST), "most": MOST}
    return render(request, "batch/page.html", _context(listed) | more, status=status)


def _context(listed: list[Row]) -> dict[str, Any]:
    taken, left = [one for one in listed if not one.left_out], [one for one in listed if one.left_out]
    return {"here": "inbox", "taken": taken, "left": left}


def _rows(request: Visit, asked: Iterable[str]) -> list[Row]:
    """The rows of these ids, in their order; what the workspace does not have is left out without a word."""
    keys = [key for one in asked if (key := rows.parse_id(Approval.PREFIX, one))]
    found = Approval.objects.filter(workspace=request.workspace, pk__in=keys).select_related("requester", "decided_by")
    made = {one.approval.pk: one for one in ballots(request.workspace, found)}
    halted, now = halts.on(request.workspace.pk), rows.now()
    in_order = [made[key] for key in dict.fromkeys(keys) if key in made]
    sure = assurance.of_session(request)
    return [_row(request.user, sure, one, entry_of(request.workspace, one, now, halted)) for one in in_order]


def _row(reader: Person, sure: Assurance, ballot: Ballot, entry: Entry) -> Row:
    revision = ballot.revision
    made = Row(entry, revision.number, revision.digest, [], left_out=_left_out(reader, sure, ballot, entry))
    try:
        return made if made.left_out else replace(made, arguments=_arguments(ballot))
    except UNPROVEN as fault:
        return replace(made, left_out=str(fault))


def _arguments(ballot: Ballot) -> list[Argument]:
    return table(args_in(ballot.revision), tool_of(ballot.approval))


# Why one is left out


def _left_out(reader: Person, sure: Assurance, ballot: Ballot, entry: Entry) -> str:
    """Why it is answered on its own page alone; nothing where it may be one of several."""
    approval = ballot.approval
    if approval.status != Approval.Status.PENDING:
        return too_late(approval).message
    if entry.frozen:
        return "A stop freezes it."
    if entry.due <= entry.now:
        return "Its deadline is over."
    return _not_for_many(ballot) or _unsure(sure, ballot) or _not_theirs(reader, ballot)


def _not_for_many(ballot: Ballot) -> str:
    """What of it has to be read or said for itself."""
    approval, rule = ballot.approval, ballot.rule
    try:
        revisions.bar_of(ballot.revision)
    except UNPROVEN as fault:
        return str(fault)
    if not approval.holds():
        return "What was asked is not as it was written."
    if care.grave(approval, rule):
        return "The risk is high: it is read and confirmed on its own page."
    if approval.kind != Approval.Kind.CALL or not rule.get("batch"):
        return f"Rule {rule['id']} lets it be answered by itself alone."
    if "approve" in rule.get("require_message_on", ()):
        return "It wants a reason of its own."
    if ballot.revision.length > LENGTH_MOST:
        return "It is too long to be read in a list."
    return ""


def _unsure(sure: Assurance, ballot: Ballot) -> str:
    wanted = ballot.rule.get("assurance", "click")
    if wanted in {"click", "session"} and sure.satisfies(wanted):
        return ""
    return "It asks you to confirm that it is you, on its own page."


def _not_theirs(reader: Person, ballot: Ballot) -> str:
    if reader.pk not in ballot.may_speak:
        return "Others decide this."
    refused = ballot.refusal(reader, "approve")
    return refused.message if refused else ""


# What came of each


def _answered(request: Visit) -> HttpResponse:
    verdict, shown = request.POST.get("verdict", ""), list(dict.fromkeys(request.POST.getlist("row")))[:MOST]
    asked = [one.partition("~")[0] for one in shown]
    if verdict not in VERDICTS:
        return _page(request, asked, fault="Choose one of the answers.", status=422)
    if verdict == "reject" and not spoken(_comment(request)):
        return _page(request, asked, fault="Say why: the agents are told your reason.", status=422)
    with rows.within(request.workspace):
        listed = _rows(request, asked)
    seen = dict(zip(asked, shown, strict=True))
    done = [_put(request, one, verdict, seen[one.entry.public_id]) for one in listed]
    count = sum(bool(one.result) for one in done)
    told = {"here": "inbox", "done": done, "count": count, "word": VERDICTS[verdict].lower()}
    return render(request, "batch/done.html", told)


def _put(request: Visit, row: Row, verdict: str, shown: str) -> Row:
    """One verdict through the one door, for what was shown and nothing else."""
    said = _said_already(request, row, verdict, shown)
    if said or row.left_out:
        return replace(row, result=said, refused="" if said else row.left_out)
    _, revision, digest = [*shown.split("~"), "", ""][:3]
    number = int(revision) if revision.isascii() and revision.isdigit() and len(revision) < 9 else 0
    digest = digest if decisions.DIGEST.fullmatch(digest) else ""
    answer = care.put(request, row.entry.approval, verdict, revision=number, digest=digest, message=_comment(request))
    if isinstance(answer, Refused):
        return replace(row, refused=answer.message)
    return replace(row, result=_told(answer, verdict))


def _told(answer: Decided, verdict: str) -> str:
    if answer.status == Approval.Status.PENDING:
        return f"Your yes is counted: {answer.votes} of {answer.required}"
    return VERDICTS[verdict]


def _said_already(request: Visit, row: Row, verdict: str, shown: str) -> str:
    """What the reader said of just this before, if it is the same: a form that was sent twice is no error."""
    if not row.left_out or shown != row.value:
        return ""
    last = turns.last_of(request.user, row.entry.approval, row.revision, row.digest)
    return f"{VERDICTS[verdict]} by you before" if last is not None and last.verdict == verdict else ""


def _comment(request: Visit) -> str:
    return request.POST.get("comment", "").replace("\r\n", "\n")
