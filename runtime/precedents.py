"""Precedents: what the ledger of a run bears out about a call that is about to be sent, and about the run itself.

Rows that say what became of a call can be put back to what they were by whoever writes the database. The ledger
cannot, except as a whole, and that the anchors show. Where people let the call run, every entry is verified first.
"""

from __future__ import annotations

import logging
from typing import Final

from django.db import connection

from approvals.ledger import about, anchors, canonical, keys
from approvals.ledger.verify import findings
from runtime import checkpoints
from runtime.calls import Call
from runtime.definitions import Tool
from runtime.leases import Lease

log = logging.getLogger(__name__)


def against(call: Call, chain: str) -> str | None:
    """Why the ledger does not bear out that this call may be sent now; None if it does."""
    if call.approval and (wrong := findings(call.workspace_id, chain)):
        return f"The ledger of its run is not as it was written: {wrong[0]}"
    try:
        entries = about.about(call.workspace_id, chain, call.public_id)
    except (about.Broken, keys.UnknownKey, canonical.Unrepresentable) as fault:
        return str(fault)
    if not any(entry["kind"] in {"approval.opened", "call.ruled"} for entry in entries):
        return "No entry of this run's ledger says that it was proposed."
    return None


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
