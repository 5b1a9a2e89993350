"""Rulings: what policy said of each proposed call, sealed and signed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import models

from approvals import rows
from approvals.ledger import about, canonical, keys, sealing


class Forged(Exception):
    """A row whose authentication code does not hold: somebody wrote to the database past Placet."""


UNPROVEN = (Forged, keys.UnknownKey, sealing.Tampered, about.Broken)
"""What reading a signed or sealed row, or the ledger, raises when it proves nothing: it then lets nothing run."""


class Ruling(rows.Row):
    """What policy said of exactly these arguments: one for every proposed call and one for every accepted edit of it.

    ``rule`` is the rule as it stood, the bar that people must meet; ``header`` and the arguments hash to ``digest``.
    ``shadow``: it was let go though the rule asks people, because policy stood in shadow.
    """

    PREFIX = "rul"
    WRITE_ONCE = True
    EXCEPTIONS = ("UPDATE (args)",)

    class Verdict(models.TextChoices):
        ALLOW = "allow"
        DENY = "deny"
        REQUIRE_APPROVAL = "require_approval"

    subject = models.CharField(max_length=80)
    chain = models.CharField(max_length=40)
    revision = models.PositiveIntegerField(default=1)
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    reason = models.TextField(blank=True)
    tool = models.CharField(max_length=200)
    agent = models.CharField(max_length=120)
    definition_digest = models.CharField(max_length=64)
    policy_version = models.PositiveIntegerField(default=0)
    rule_id = models.CharField(max_length=80, blank=True)
    rule = models.JSONField(default=dict)
    header = models.JSONField(default=dict)
    args = models.BinaryField()
    args_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, blank=True)
    shadow = models.BooleanField(default=False)
    mac = models.BinaryField()

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "subject"], name="rulings_of_a_subject"),
            models.Index(fields=["workspace", "-created_at"], name="rulings_of_late"),
            models.Index(
                fields=["workspace", "-created_at"], condition=models.Q(shadow=True), name="rulings_in_shadow"
            ),
        ]

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("ruling", _signed(self), self.mac)

    def clear_args(self) -> bytes:
        """The exact bytes that were judged. Raises sealing.Tampered when they are not those."""
        return sealing.unseal(self.workspace_id, self.args, place=_place(self.pk))


def _signed(ruling: Ruling) -> bytes:
    named = (
        "subject",
        "chain",
        "revision",
        "reason",
        "tool",
        "agent",
        "definition_digest",
        "policy_version",
    )
    fields = {name: getattr(ruling, name) for name in (*named, "rule_id", "rule", "header", "args_digest", "digest")}
    fields |= {"shadow": True} if ruling.shadow else {}
    return canonical.encode(
        {"id": ruling.pk.hex, "workspace": str(ruling.workspace_id), "verdict": str(ruling.verdict), **fields}
    )


def _place(key: UUID) -> str:
    return f"approvals_ruling.args:{key.hex}"


def write(*, args: bytes, **fields: Any) -> Ruling:
    """Seal the arguments, sign the row and insert it; inside an open `rows.within`."""
    ruling = Ruling(workspace_id=rows.in_scope(), args_digest=canonical.sha256_hex(args), **fields)
    ruling.args = sealing.seal(ruling.workspace_id, args, place=_place(ruling.pk))
    ruling.mac = keys.sign("ruling", _signed(ruling))
    rows.insert(ruling)
    return ruling
