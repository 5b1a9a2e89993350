"""Recorded tools on a stage: all of a case folder's are taken in behind the recorder, and policy holds each call."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any, Final

import yaml
from django.core.management import call_command

from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.revisions import args_of
from approvals.rows import within
from tests.campaigns import furniture
from tests.campaigns.stage import OPERATOR, WORKSPACE, Stage, tell

POLICY: Final[dict[str, Any]] = {
    "policy": 1,
    "rules": [
        {"id": "all", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}], "deadline": "2d"}
    ],
}
"""Every known tool waits for one person, who may edit."""


def hold_everything(stage: Stage) -> None:
    """Have every call of a known tool wait for one person."""
    file = stage.home / "holds-everything.yaml"
    file.write_text(yaml.safe_dump(POLICY), "utf-8")
    call_command("policy", "load", str(file), workspace=WORKSPACE, by=OPERATOR, stdout=StringIO())


def admit(stage: Stage, place: Path, server: str) -> int:
    """Take a server's tools in; how many were."""
    file = next(file for file in place.glob("*.json") if file.stem == server or _names(file) == server)
    base = f"http://{stage.recorder.address}/{server}"
    out = StringIO()
    call_command("tools", "import", str(file), url=base, effect="keyed", workspace=WORKSPACE, stdout=out)
    said = out.getvalue()
    tell(f"{server}: {said.splitlines()[0] if said else 'nothing was taken in'}")
    return int(said.split()[0]) if said[:1].isdigit() else 0


def _names(file: Path) -> str:
    document = canonical.parse(file.read_bytes(), max_bytes=file.stat().st_size, max_nodes=10_000_000)
    return str(document.get("server", "")) if isinstance(document, dict) else ""


def approved(public_id: str) -> bytes:
    """The bytes of the revision that people said yes to."""
    approval = found(public_id)
    with within(approval.workspace_id):
        return bytes(args_of(approval.revisions.select_related("ruling").get(number=approval.revision)))


def found(public_id: str) -> Approval:
    """The approval of this public id."""
    approval = furniture.approval_named(public_id)
    assert approval is not None
    return approval
