"""Which view answers which path: the pages of people, those of operators, sign-in, health."""

from __future__ import annotations

from importlib.util import find_spec

from django.urls import include, path

from runtime import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    *(path("", include(name)) for name in ("approvals.pages.urls", "runtime.pages_urls") if find_spec(name)),
]
