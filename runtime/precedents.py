"""Precedents: what the ledger of a run bears out about a call that is about to be sent, and about the run itself.

Rows that say what became of a call can be put back to what they were by whoever writes the database. The ledger
cannot, except as a whole, and that the anchors show. Where people let the call run, every entry is verified first.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from approvals import rows
from approvals.ledger import about, anchors, canonical, followed, keys
from approvals.ledger.verify import proved
from approvals.rows import wire
from runtime import allowances, calls, checkpoints
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.definitions import Tool
from runtime.leases import Lease
from runtime.unknowns import AGAIN

log = logging.getLogger(__name__)

SENDINGS: Final = ("call.intended", "outcome.reported", "call.settled", "call.asked_again")
"""The entries that say how often a call was sent, and what came of it."""


def against(call: Call, chain: str, *, budgeted: bool = False) -> str | None:
    """Why the ledger does not bear out that this call may be sent now; None if it does. Raises Unreadable where the
    rows say otherwise of what was asked or sent before: the run is parked then."""
    try:
        entries = _entries(call, chain)
    except (about.Broken, keys.UnknownKey, canonical.Unrepresentable) as fault:
        return str(fault)
    if not any(entry["kind"] in {"approval.opened", "call.ruled"} for entry in entries):
        return "No entry of this run's ledger says that it was proposed."
    if budgeted:
        allowances.check(call)
    if not _is_newest(call, entries):
        return "It would be sent by something else than what was decided about it last."
    if any(entry["kind"] == "approval.stopped" for entry in entries):
        raise checkpoints.Unreadable(f"{call.public_id} is to be sent, and by the ledger somebody stopped it.")
    ended = [entry["kind"] for entry in entries if entry["kind"] in _OF_THE_RUN][-1:]
    if ended not in ([], ["run.retried"]):
        raise checkpoints.Unreadable(f"{call.public_id} is to be sent, and by the ledger its run has ended.")
    sent = [entry for entry in entries if entry["kind"] in SENDINGS]
    [(attempt_id, found)] = wire.rows(_ATTEMPTS, {"call": call.pk})
    if attempt_id != call.attempt_id:
        return None  # somebody else took it meanwhile, and the statement that takes it will say so
    attempts = [rows.public_id(Attempt.PREFIX, each) for each in found]
    for difference in disagreements(call, attempts, sent):
        raise checkpoints.Unreadable(f"{call.public_id} {difference}")
    if _settled(sent):
        raise checkpoints.Unreadable(f"{call.public_id} is to be sent, and by the ledger it was settled.")
    return None


def _is_newest(call: Call, entries: list[dict[str, Any]]) -> bool:
    """Whether what lets the call run is what was said of it last: an earlier yes, or a rule that allowed it, stands for
    nothing once people were asked again."""
    digests: set[str] = set()
    for entry in entries:
        if entry["kind"] in {"approval.opened", "call.ruled"} and not entry.get("approval_kind"):
            digests = {entry["digest"]}
        elif entry["kind"] == "approval.revised":
            digests.add(entry["digest"])
    return call.digest in digests


def _entries(call: Call, chain: str) -> list[dict[str, Any]]:
    """The entries about the call and about the end of its run, after the one that opened the chain. Raises what a
    ledger raises that proves nothing."""
    if not call.approval:
        return about.about(call.workspace_id, chain, call.public_id, kinds=_OF_THE_RUN)
    told = proved(call.workspace_id, chain)
    return [entry for entry in told if _concerns(entry, call)]


def _concerns(entry: dict[str, Any], call: Call) -> bool:
    return entry["seq"] == 1 or entry.get("subject") == call.public_id or entry["kind"] in _OF_THE_RUN


_OF_THE_RUN: Final = ("run.cancelled", "run.completed", "run.failed", "run.retried")
"""The entries that say whether a run has ended."""


_ATTEMPTS: Final = """
    SELECT attempt_id, ARRAY(SELECT id FROM runtime_attempt WHERE call_id = runtime_call.id ORDER BY number)
    FROM runtime_call WHERE id = %(call)s
"""


def disagreements(call: Call, attempts: list[str], sent: list[dict[str, Any]]) -> list[str]:
    """What of a call's rows does not agree with the entries about its sendings, as ends of sentences. Both are given
    oldest first, the attempts by their public ids. Entries of old may not say which attempt they are about."""
    intended = [each for each in sent if each["kind"] == "call.intended"]
    found = []
    if call.key != calls.idempotency_key(call.run_id, call.step, call.idx):
        found.append("has a key that is not its own.")
    elif any(each["key"] != call.key for each in intended):
        found.append("was sent under another key.")
    if len(attempts) != len(intended) or (call.attempt_id is None) is bool(intended):
        found.append(f"has {len(attempts)} attempts, and by the ledger {len(intended)}.")
    elif any(told.get("attempt_id", here) != here for here, told in zip(attempts, intended, strict=True)):
        found.append("has attempts that are not those of its ledger.")
    elif call.attempt_id and rows.public_id(Attempt.PREFIX, call.attempt_id) != attempts[-1]:
        found.append("counts another attempt than its last.")
    if intended and call.status in _TO_BE_SENT and not _opens(sent[-1]):
        found.append(f"is {call.status}, and by the ledger it was sent and nobody had it sent again.")
    return found


_TO_BE_SENT: Final = frozenset({"proposed", "held", "cleared"})
"""What a call that was sent comes back to only when people chose, last of all, to have it sent again, or are asked
anew because nothing had come of it."""


def _settled(sent: list[dict[str, Any]]) -> bool:
    """Whether the last word on a call is an outcome, and nobody chose to have it sent again since."""
    last = [each for each in sent if each["kind"] != "call.intended"][-1:]
    return bool(last and not _opens(last[0]))


def _opens(told: dict[str, Any]) -> bool:
    """Whether a call may be sent after this entry, whatever was sent before."""
    return told["kind"] == "call.asked_again" or told.get("choice") == AGAIN


def in_force(tool: Tool) -> bool:
    """Whether this version of the tool is the one that the ledger says was registered last."""
    try:
        return _REGISTERED.of(tool.workspace_id).get(tool.name) == tool.public_id
    except (about.Broken, keys.UnknownKey) as fault:
        log.error("No version of %s is in force: %s", tool.name, fault)
        return False


def _registered(before: dict[str, str], entries: list[dict[str, Any]]) -> dict[str, str]:
    return before | {entry["name"]: entry["tool"] for entry in entries}


_REGISTERED: Final = followed.Followed[dict[str, str]](["tool.registered"], {}, _registered)
"""The public id of the version of each tool that was registered last."""


def verify(lease: Lease, *, whole: bool) -> None:
    """Verify the run's checkpoints since they were last verified, or the whole chain where people waited to let a call
    run; and that the anchors know of nothing later. Raises Unreadable."""
    head: dict[str, Any] = {"head_seq": lease.head_seq, "head_mac": lease.head_mac}
    if not whole:
        checkpoints.verify_tail(lease.run_id, lease.verified_seq, **head)
    else:
        # What this process remembers of the state is no proof of what is stored.
        stored = checkpoints.read(lease.workspace_id, lease.run_id, lease.head_seq, head_mac=lease.head_mac)
        if stored.stack.seq:
            checkpoints.verify_tail(lease.run_id, 0, **head)
    if why := _gone_back(lease):
        raise checkpoints.Unreadable(why)


def _gone_back(lease: Lease) -> str | None:
    """Why the run, or the workspace with the rights and rules of its people, is not as it was anchored. Only a process
    that can read the file of anchors can tell."""
    try:
        own = [("steps", lease.public_id), ("ledger", lease.public_id)]
        return anchors.gone_back(lease.workspace_id, *own, ("ledger", followed.CHAIN))
    except OSError as error:
        said = "The file of anchors cannot be read (%s): %s is not compared with it."
        log.warning(said, error.strerror, lease.public_id)
        return None
