"""The pages of operators: runs, one run, and what became of one call."""

from __future__ import annotations

from django.urls import path

from runtime import halt_pages, pages

urlpatterns = [
    path("w/<slug:slug>/runs", pages.runs, name="runs"),
    path("w/<slug:slug>/runs/<str:run_id>", pages.run, name="run"),
    path("w/<slug:slug>/runs/<str:run_id>/stop", pages.stop, name="stop"),
    path("w/<slug:slug>/runs/<str:run_id>/resume", pages.resume, name="resume"),
    path("w/<slug:slug>/halt", halt_pages.begin, name="halt_begin"),
    path("w/<slug:slug>/halt/end", halt_pages.end, name="halt_end"),
    path("w/<slug:slug>/calls/<str:call_id>", pages.call, name="call"),
]
