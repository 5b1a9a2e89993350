"""Entries of the ledger as sentences: one line of this table for each kind, its members put in by name.

What stands in an entry may come from an agent or a stranger, so each value is marked as text of unknown origin. A kind
that is not listed here is told by its own name.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from approvals.channels import kinds
from approvals.pages.tags import marked, moment


class Words(NamedTuple):
    """The first words, the rest of the sentence with members of the entry in braces, and the colour of the first."""

    lead: str
    rest: str = ""
    tone: str = ""


VERDICTS: Final = {
    "approve": Words("Approved", " revision {revision}", "done"),
    "edit": Words("Edited", " revision {revision}", "waiting"),
    "reject": Words("Rejected", " revision {revision}", "danger"),
    "respond": Words("Answered", " revision {revision}"),
    "choose": Words("Chose", " “{choice}”"),
    "stop": Words("Stopped", " it before it was sent", "danger"),
    "retract": Words("Took back", " the vote on revision {revision}"),
    "override": Words("Broke the glass", " and let revision {revision} go", "waiting"),
}
RULED: Final = {
    "allow": Words("Allowed", " by rule {rule} of policy version {policy_version}"),
    "deny": Words("Denied", " by rule {rule} of policy version {policy_version}", "danger"),
    "require_approval": Words("Ruled", ": rule {rule} of policy version {policy_version} asks people"),
}
OUTCOMES: Final = {
    "executed": Words("Ran", "", "done"),
    "failed": Words("Failed", "", "danger"),
    "unknown": Words("Outcome unknown", ": nobody knows what came of it", "waiting"),
}
WORDS: Final = {
    "absence.announced": Words("Announced", " that {person} is away until {ends_at}; deputy: {deputy}"),
    "absence.ended": Words("Ended", " an absence"),
    "agent.registered": Words("Registered", " the agent {name}, version {version}"),
    "approval.answered": Words("Settled", " as answered"),
    "approval.approved": Words("Settled", " as approved: revision {revision} may run", "done"),
    "approval.cancelled": Words("Withdrawn", ": nobody is asked any more"),
    "approval.escalated": Words("Asked more people", ": {teams}", "waiting"),
    "approval.expired": Words("Expired", " unanswered; nothing ran"),
    "approval.nudged": Words("Nudged", " those who may decide"),
    "approval.opened": Words("Asked people", " under rule {rule}"),
    "approval.rejected": Words("Settled", " as rejected; nothing ran", "danger"),
    "approval.reminded": Words("Reminded", " those who may decide"),
    "approval.revised": Words("Edited", ": revision {revision} is the one to decide on", "waiting"),
    "approval.stopped": Words("Stopped", " before it was sent", "danger"),
    "approval.superseded": Words("Replaced", " by a newer approval"),
    "breakpoint.passed": Words("Passed", " a breakpoint"),
    "budget.raised": Words("Raised", " the budget"),
    "call.answered_late": Words("Answered late", ": the tool’s answer came after its time"),
    "call.asked_again": Words("Asked again", ": {reason}", "waiting"),
    "call.intended": Words("Sent", ", attempt {attempt}"),
    "call.put_off": Words("Put off", " by {seconds} s, to be tried again"),
    "call.refused": Words("Not sent", ": {reason}", "danger"),
    "call.settled": Words("Settled", " what became of it: “{choice}”"),
    "call.waits": Words("Waits", " until {until}: {reason}"),
    "comment.made": Words("Commented", " on revision {revision}"),
    "credential.created": Words("Made", " a credential for {agent} (…{shown})"),
    "credential.revoked": Words("Revoked", " a credential of {agent} (…{shown})"),
    "credential.rotated": Words("Replaced", " a credential of {agent} (…{shown})"),
    "decision.refused": Words("Refused", ": {verdict} of revision {seen} did not count ({code})", "danger"),
    "factor.added": Words("Added", " a way to sign in: {factor}"),
    "factor.removed": Words("Removed", " a way to sign in: {factor}"),
    "glass.broken": Words("Broke the glass", "; to be reviewed by {due}", "waiting"),
    "glass.reviewed": Words("Reviewed", " a broken glass: {finding}"),
    "grant.asked": Words("Asked", " for a standing grant for {tool}, until {until}"),
    "grant.ended": Words("Ended", " a standing grant"),
    "grant.used": Words("Used", " a standing grant, for the {number}. time"),
    "halt.begun": Words("Stopped", " {agent}", "danger"),
    "halt.ended": Words("Let go on", " {agent}"),
    "identity.linked": Words("Linked", " an account of {issuer}"),
    "identity.unlinked": Words("Unlinked", " an account of {issuer}"),
    "invitation.accepted": Words("Accepted", " an invitation"),
    "invitation.made": Words("Invited", " somebody"),
    "invitation.withdrawn": Words("Withdrew", " an invitation"),
    "key.made": Words("Made", " data key {key}"),
    "key.rewrapped": Words("Wrapped", " data key {key} anew"),
    "ledger.exported": Words("Exported", " entries of the ledger ({format})"),
    "ledger.key_changed": Words("Changed", " the ledger’s key from {from} to {to}"),
    "ledger.verified": Words("Verified", " the ledger: {entries} entries in {chains} chains, faults: {faults}"),
    "oversight.noticed": Words("Noticed", " how people decide", "waiting"),
    "person.deactivated": Words("Switched off", " {person}"),
    "person.erased": Words("Erased", " what {person} wrote"),
    "person.joined": Words("Joined", ": {person}"),
    "person.left": Words("Left", ": {person}"),
    "person.reactivated": Words("Switched on", " {person}"),
    "policy.loaded": Words("Switched on", " policy version {version}"),
    "rescue.announced": Words("Announced", " a rescue: {person} is to decide for {team}, from {due} on", "waiting"),
    "rescue.carried_out": Words("Carried out", " a rescue: {person} decides for {team}", "waiting"),
    "rescue.withdrawn": Words("Withdrew", " a rescue: {person} for {team}"),
    "reset.asked": Words("Asked", " for a new password for {person}"),
    "right.granted": Words("Granted", " {person} the right to {right} ({thing})"),
    "right.revoked": Words("Revoked", " the right of {person} to {right} ({thing})"),
    "run.cancelled": Words("Ended", " the run, as was asked"),
    "run.deleted": Words("Deleted", " the run"),
    "run.erased": Words("Erased", " what was written in the run"),
    "run.failed": Words("Failed", ": {reason}", "danger"),
    "run.parked": Words("Parked", ": {reason}", "waiting"),
    "run.pruned": Words("Pruned", " old states of the run"),
    "run.retried": Words("Let go on", " the run"),
    "run.started": Words("Started", " a run of {agent}"),
    "signin.all_ended": Words("Signed out", " {person} everywhere"),
    "signin.confirmed": Words("Confirmed", " the sign-in"),
    "signin.done": Words("Signed in"),
    "signin.limited": Words("Held back", " too many tries to sign in as {person}", "waiting"),
    "signin.others_ended": Words("Signed out", " everywhere else"),
    "signin.password_changed": Words("Changed", " the password"),
    "signin.password_reset": Words("Reset", " the password of {person}"),
    "team.formed": Words("Formed", " the team {name}"),
    "team.renamed": Words("Renamed", " a team: {name}"),
    "tool.registered": Words("Registered", " the tool {name}, version {version}"),
    "tool.switched_off": Words("Switched off", " the tool {name}", "danger"),
    "tool.switched_on": Words("Switched on", " the tool {name}"),
    "watcher.created": Words("Made", " a key for reading figures (…{shown})"),
    "watcher.revoked": Words("Revoked", " a key for reading figures (…{shown})"),
    "workspace.founded": Words("Founded", " the workspace {name}"),
}
_CHOSEN: Final[dict[str, tuple[str, Mapping[str, Words]]]] = {
    "decision.made": ("verdict", VERDICTS),
    "call.ruled": ("verdict", RULED),
    "outcome.reported": ("outcome", OUTCOMES),
}
TIMES: Final = {"until", "ends_at", "due"}
CODES: Final = {"code", "finding", "factor", "right"}


def words(entry: Mapping[str, Any]) -> Words:
    """The words of an entry, by its kind and, where one kind tells of several things, by which of them."""
    kind = str(entry.get("kind", ""))
    if kind == "call.ruled" and entry.get("grant"):
        return Words("Allowed", " by a standing grant")
    if kind in _CHOSEN:
        member, known = _CHOSEN[kind]
        return known.get(str(entry.get(member)), _unknown(kind))
    if kind == "absence.announced" and not entry.get("deputy"):
        return Words("Announced", " that {person} is away until {ends_at}")
    return WORDS.get(kind, _unknown(kind))


def _unknown(kind: str) -> Words:
    return Words(kind.replace(".", " ").replace("_", " ").capitalize() or "Unreadable")


def told(entry: Mapping[str, Any], names: Mapping[str, str]) -> SafeString:
    """The sentence, its first words in their colour."""
    found = words(entry)
    rest = mark_safe("".join(_parts(found.rest, entry, names)))  # each part is escaped
    return format_html('<b class="{}">{}</b>{}', found.tone, found.lead, rest)


def plain(entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The same as plain text, for a file."""
    found = words(entry)
    said = [text + _text(name, entry, names) for text, name, _, _ in string.Formatter().parse(found.rest)]
    return found.lead + "".join(said)


def _parts(rest: str, entry: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for text, name, _, _ in string.Formatter().parse(rest):
        found.append(format_html("{}", text))
        if name in TIMES:
            found.append(moment(parse_datetime(str(entry.get(name, ""))), "at") or "then")
        elif name:
            found.append(marked(_text(name, entry, names)))
    return found


def _text(name: str | None, entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    value = entry.get(name) if name else ""
    if name == "agent" and value == "":
        return "everything"
    if name == "choice":
        return kinds.option(str(value)).state if value else ""
    if name in CODES:
        return str(value).replace("_", " ")
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return names.get(str(value), str(value)) if value is not None else "?"
