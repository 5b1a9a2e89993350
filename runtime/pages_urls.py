"""The pages of operators: runs, one run, and what became of one call."""

from __future__ import annotations

from django.urls import path

from runtime import (
    agent_pages,
    attention_pages,
    checkpoint_pages,
    halt_pages,
    import_pages,
    pages,
    retention_pages,
    run_list,
    start_pages,
    tool_pages,
)

urlpatterns = [
    path("w/<slug:slug>/attention", attention_pages.attention, name="attention"),
    path("w/<slug:slug>/runs", run_list.runs, name="runs"),
    path("w/<slug:slug>/start", start_pages.page, name="start"),
    path("w/<slug:slug>/start/agent", start_pages.connect, name="start_agent"),
    path("w/<slug:slug>/start/policy", start_pages.decide, name="start_policy"),
    path("w/<slug:slug>/start/call", start_pages.call, name="start_call"),
    path("w/<slug:slug>/runs/<str:run_id>", pages.run, name="run"),
    path("w/<slug:slug>/runs/<str:run_id>/checkpoints/<int:number>", checkpoint_pages.checkpoint, name="checkpoint"),
    path("w/<slug:slug>/runs/<str:run_id>/stop", pages.stop, name="stop"),
    path("w/<slug:slug>/runs/<str:run_id>/resume", pages.resume, name="resume"),
    path("w/<slug:slug>/retention", retention_pages.page, name="retention"),
    path("w/<slug:slug>/halt", halt_pages.begin, name="halt_begin"),
    path("w/<slug:slug>/halt/end", halt_pages.end, name="halt_end"),
    path("w/<slug:slug>/tools", tool_pages.tools, name="tools"),
    path("w/<slug:slug>/tools/import", import_pages.page, name="import_tools"),
    path("w/<slug:slug>/tools/<str:tool_id>", tool_pages.tool, name="tool"),
    path("w/<slug:slug>/tools/<str:tool_id>/switch", tool_pages.switch, name="switch_tool"),
    path("w/<slug:slug>/agents", agent_pages.agents, name="agents"),
    path("w/<slug:slug>/agents/<str:agent_id>", agent_pages.agent, name="agent"),
    path("w/<slug:slug>/agents/<str:agent_id>/credentials", agent_pages.issue, name="issue_credential"),
    path("w/<slug:slug>/agents/<str:agent_id>/operators", agent_pages.operators, name="operators"),
    path("w/<slug:slug>/credentials/<str:credential>/exchange", agent_pages.exchange, name="exchange_credential"),
    path("w/<slug:slug>/credentials/<str:credential>/revoke", agent_pages.revoke, name="revoke_credential"),
    path("w/<slug:slug>/calls/<str:call_id>", pages.call, name="call"),
]
