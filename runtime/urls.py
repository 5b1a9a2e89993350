"""Which view answers which path: the pages of people, those of operators, sign-in, health."""

from __future__ import annotations

from django.conf import settings
from django.urls import include, path, re_path
from django.utils.module_loading import import_string

from runtime import health
from runtime.api import root

MFA = "allauth.mfa"
SIGN_IN = "approvals.signin.views"


def signing_in() -> list[tuple[str, str, str]]:
    """The pages of signing in: nobody signs up, so of allauth's pages these are there, and no other."""
    pages = [
        ("login/", f"{SIGN_IN}.sign_in", "account_login"),
        ("logout/", "allauth.account.views.logout", "account_logout"),
        ("confirm/", "allauth.account.views.reauthenticate", "account_reauthenticate"),
        ("password/", f"{SIGN_IN}.change_password", "account_change_password"),
        ("factors/", "approvals.pages.account.account", "mfa_index"),
        ("factors/ask/", f"{MFA}.base.views.authenticate", "mfa_authenticate"),
        ("factors/confirm/", f"{MFA}.base.views.reauthenticate", "mfa_reauthenticate"),
        ("totp/add/", f"{SIGN_IN}.activate_totp", "mfa_activate_totp"),
        ("totp/remove/", f"{SIGN_IN}.deactivate_totp", "mfa_deactivate_totp"),
        ("codes/", f"{MFA}.recovery_codes.views.view_recovery_codes", "mfa_view_recovery_codes"),
        ("codes/new/", f"{MFA}.recovery_codes.views.generate_recovery_codes", "mfa_generate_recovery_codes"),
        ("passkeys/", "approvals.pages.account.account", "mfa_list_webauthn"),
        ("passkeys/login/", f"{MFA}.webauthn.views.login_webauthn", "mfa_login_webauthn"),
        ("passkeys/confirm/", f"{MFA}.webauthn.views.reauthenticate_webauthn", "mfa_reauthenticate_webauthn"),
        ("passkeys/add/", f"{SIGN_IN}.add_passkey", "mfa_add_webauthn"),
        ("passkeys/<int:pk>/", f"{MFA}.webauthn.views.edit_webauthn", "mfa_edit_webauthn"),
        ("passkeys/<int:pk>/remove/", f"{SIGN_IN}.remove_passkey", "mfa_remove_webauthn"),
    ]
    if settings.PLACET_MAIL:
        pages.append(("forgotten/", "approvals.pages.account.forgotten", "forgotten"))
    return pages


urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("api/v1/", root.api.urls),
    re_path("^api/", root.nothing_here),
    *(path(f"accounts/{way}", import_string(view), name=name) for way, view, name in signing_in()),
    path("", include("approvals.pages.urls")),
    path("", include("runtime.pages_urls")),
]
