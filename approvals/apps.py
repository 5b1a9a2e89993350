"""The approvals app: what it does when the process boots and after the tables have changed."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ApprovalsConfig(AppConfig):
    name = "approvals"

    def ready(self) -> None:
        from approvals import (
            absences,
            changes,
            departures,
            deputies,
            evidence,
            grants,
            invitations,
            places,
            roles,
            signin,
            vouched,
            watchers,
            workspaces,
        )
        from approvals.ledger import anchors, verify

        verify.CHECKS += [vouched.unexplained, evidence.unproven, signin.unproven, invitations.unproven]
        verify.CHECKS += [deputies.unexplained, grants.unproven, watchers.unproven, anchors.differences]
        post_migrate.connect(_grant, sender=self, dispatch_uid="approvals.grant")
        self.roles, self.workspaces, self.absences, self.departures = roles, workspaces, absences, departures
        self.changes = changes
        places.add(places.Place("inbox", "Inbox", "inbox"))
        places.add(places.Place("ledger", "Ledger", "ledger"))
        places.add(places.Place("policy", "Policy", "policy"))
        places.add(places.Place("people", "People", "people"))


def _grant(sender: ApprovalsConfig, using: str, **_: Any) -> None:
    sender.roles.grant(using)
