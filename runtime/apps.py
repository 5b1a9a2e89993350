"""The runtime app: what it does when the process boots."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    name = "runtime"

    def ready(self) -> None:
        from approvals import gate
        from approvals.ledger import anchors, verify

        import_module("runtime.celery")
        import_module("runtime.checks")
        evidence = import_module("runtime.evidence")
        verify.CHECKS.append(evidence.unproven)
        anchors.SOURCES.append(evidence.Steps())
        gate.add_place(gate.Place("runs", "Runs", "runs"))
        gate.add_place(gate.Place("tools", "Tools", "tools"))
        attention = import_module("runtime.attention")
        gate.add_place(gate.Place("attention", "Attention", "attention", seen=attention.sees, count=attention.waiting))
