"""Precedents: what the ledger of a run bears out about a call that is about to be sent, and about the run itself.

Rows that say what became of a call can be put back to what they were by whoever writes the database. The ledger
cannot, except as a whole, and that the anchors show. Where people let the call run, every entry is verified first.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from django.db import connection

from approvals.ledger import about, anchors, canonical, keys
from approvals.ledger.verify import findings
from runtime import calls, checkpoints
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.definitions import Tool
from runtime.leases import Lease
from runtime.unknowns import AGAIN

log = logging.getLogger(__name__)

SENDINGS: Final = ("call.intended", "outcome.reported", "call.settled")
"""The entries that say how often a call was sent, and what came of it."""


def against(call: Call, chain: str) -> str | None:
    """Why the ledger does not bear out that this call may be sent now; None if it does. Raises Unreadable where the
    rows say otherwise of what was sent before: the run is parked then."""
    if call.approval and (wrong := findings(call.workspace_id, chain)):
        return f"The ledger of its run is not as it was written: {wrong[0]}"
    try:
        entries = about.about(call.workspace_id, chain, call.public_id)
    except (about.Broken, keys.UnknownKey, canonical.Unrepresentable) as fault:
        return str(fault)
    if not any(entry["kind"] in {"approval.opened", "call.ruled"} for entry in entries):
        return "No entry of this run's ledger says that it was proposed."
    sent = [entry for entry in entries if entry["kind"] in SENDINGS]
    if Call.objects.values_list("attempt_id", flat=True).get(pk=call.pk) != call.attempt_id:
        return None  # somebody else took it meanwhile, and the statement that takes it will say so
    for difference in disagreements(call, Attempt.objects.filter(call=call).count(), sent):
        raise checkpoints.Unreadable(f"{call.public_id} {difference}")
    if _settled(sent):
        raise checkpoints.Unreadable(f"{call.public_id} is to be sent, and by the ledger it was settled.")
    return None


def disagreements(call: Call, attempts: int, sent: list[dict[str, Any]]) -> list[str]:
    """What of a call's rows does not agree with the entries about its sendings, oldest first, as ends of sentences."""
    intended = [each for each in sent if each["kind"] == "call.intended"]
    found = []
    if call.key != calls.idempotency_key(call.run_id, call.step, call.idx):
        found.append("has a key that is not its own.")
    elif any(each["key"] != call.key for each in intended):
        found.append("was sent under another key.")
    if attempts != len(intended) or (call.attempt_id is None) is bool(intended):
        found.append(f"has {attempts} attempts, and by the ledger {len(intended)}.")
    return found


def _settled(sent: list[dict[str, Any]]) -> bool:
    """Whether the last word on a call is an outcome, and nobody chose to have it sent again since."""
    last = [each for each in sent if each["kind"] != "call.intended"][-1:]
    return bool(last and last[0].get("choice") != AGAIN)


def in_force(tool: Tool) -> bool:
    """Whether this version of the tool is the one that the ledger says was registered last."""
    with connection.cursor() as cursor:
        cursor.execute(_REGISTERED, [tool.workspace_id, b'"name":' + canonical.encode(tool.name)])
        last = cursor.fetchone()
    return last is not None and canonical.parse(bytes(last[0]))["tool"] == tool.public_id


_REGISTERED: Final = """
    SELECT e.body FROM approvals_entry e JOIN approvals_chain c ON c.id = e.chain_id
    WHERE c.workspace_id = %s AND c.name = 'workspace' AND e.kind = 'tool.registered' AND position(%s IN e.body) > 0
    ORDER BY e.seq DESC LIMIT 1
"""


def verify(lease: Lease, *, whole: bool) -> None:
    """Verify the run's checkpoints since they were last verified, or the whole chain where people waited to let a call
    run; and that the anchors know of nothing later. Raises Unreadable."""
    since = 0 if whole else lease.verified_seq
    checkpoints.verify_tail(lease.run_id, since, head_seq=lease.head_seq, head_mac=lease.head_mac)
    if whole:
        # What this process remembers of the state is no proof of what is stored.
        checkpoints.read(lease.workspace_id, lease.run_id, lease.head_seq, head_mac=lease.head_mac)
    if why := _gone_back(lease):
        raise checkpoints.Unreadable(why)


def _gone_back(lease: Lease) -> str | None:
    """Why the run is not the one that was anchored. Only a process that can read the file of anchors can tell."""
    try:
        return anchors.gone_back(lease.workspace_id, {"steps": lease.public_id, "ledger": lease.public_id})
    except OSError as error:
        said = "The file of anchors cannot be read (%s): %s is not compared with it."
        log.warning(said, error.strerror, lease.public_id)
        return None
