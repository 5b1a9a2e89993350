"""Which view answers which path: the pages of people, those of operators, sign-in, health."""

from __future__ import annotations

from django.urls import include, path, re_path
from django.utils.module_loading import import_string

from runtime import health
from runtime.api import root

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("api/v1/", root.api.urls),
    re_path("^api/", root.nothing_here),
    # Nobody signs up and nobody is sent a mail: of allauth's pages these two are there, and no other.
    path("accounts/login/", import_string("allauth.account.views.login"), name="account_login"),
    path("accounts/logout/", import_string("allauth.account.views.logout"), name="account_logout"),
    path("", include("approvals.pages.urls")),
    path("", include("runtime.pages_urls")),
]
