"""Pages of allauth, changed: the sign-in, and whatever changes how somebody signs in."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView, PasswordChangeView
from allauth.mfa.base.forms import ReauthenticateForm
from allauth.mfa.base.internal.flows import check_rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from django.conf import settings
from django.db import transaction
from django.views import View

from approvals import providers
from approvals.signin.factors import FactorAdapter


class SignIn(LoginView):
    """The sign-in page."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        told = {"providers": providers.every(), "can_reset": settings.PLACET_MAIL}
        return super().get_context_data(**kwargs) | told


class ConfirmForm(ReauthenticateForm):
    """A code of the authenticator app. A recovery code brings somebody back in, and confirms nothing after that."""

    def clean_code(self) -> str:
        clear = check_rate_limit(self.user)
        code: str = self.cleaned_data["code"]
        self.authenticator = Authenticator.objects.filter(user=self.user, type=Authenticator.Type.TOTP).first()
        if self.authenticator is None or not self.authenticator.wrap().validate_code(code):
            raise FactorAdapter().validation_error("incorrect_code")
        self.authenticator.user = self.user
        clear()
        return code


def _whole(view: type[View]) -> Any:
    """A view whose change and whose ledger entries are one transaction."""
    return transaction.atomic(view.as_view())


sign_in = SignIn.as_view()
change_password = PasswordChangeView.as_view()
activate_totp = _whole(ActivateTOTPView)
deactivate_totp = _whole(DeactivateTOTPView)
add_passkey = _whole(AddWebAuthnView)
remove_passkey = _whole(RemoveWebAuthnView)
