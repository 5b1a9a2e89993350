"""What allauth asks us of accounts: who may come in, how they confirm that it is them, and what is told of it."""

from __future__ import annotations

import logging
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login, get_pending_stage
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib import messages
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from approvals import assurance, identities, letters, witness
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.signin import proofs
from approvals.signin.entering import local
from approvals.signin.factors import factors

log = logging.getLogger(__name__)

UNPROVEN: Final = "The ledger cannot be proved at the moment, so nobody is signed in. Tell those who run Placet."
LIMITED_SECONDS: Final = 300
"""For so long a person who is tried too often is written down once."""


class Adapter(DefaultAccountAdapter):
    """Accounts are made by those who run Placet; the way back after the sign-in is a path of this site or none."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "E-mail or password is not correct.",
        "incorrect_password": "The password is not correct.",
        "enter_current_password": "The current password is not correct.",
        "too_many_login_attempts": "Too many tries. Wait a few minutes, then try again.",
        "rate_limited": "Too many tries. Wait a few minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str | None) -> bool:
        return local(url)

    def add_message(
        self, request: HttpRequest, level: int, *args: Any, message: str | None = None, **more: Any
    ) -> None:
        """Only what failed is told beside the page that follows; the page itself says the rest."""
        if message and level >= messages.ERROR:
            messages.add_message(request, level, message)

    def validation_error(self, code: str, *args: Any) -> Any:
        if code in {"too_many_login_attempts", "rate_limited"}:
            _note_limit(context.request)
        return super().validation_error(code, *args)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Whatever changes how somebody signs in needs a fresh sign-in, by the one meaning of fresh.

        A form that comes too late is not kept to be done by itself after the confirmation, as allauth would: its page
        is shown again. Raises ImmediateHttpResponse.
        """
        request = context.request
        if assurance.of_session(request).satisfies("fresh"):
            return False
        if request.user.is_authenticated and (ways := self.get_reauthentication_methods(request.user)):
            way = request.get_full_path() if request.method == "GET" else request.path
            raise ImmediateHttpResponse(redirect(f"{ways[0]['url']}?{urlencode({'next': way})}"))
        return True

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """By what a person may confirm that it is them: their factors alone where they have any."""
        if not user.is_authenticated:
            return []
        kinds = {factor.kind for factor in factors(user)}
        found = []
        if "passkey" in kinds:
            found.append(_way("webauthn", "Use a passkey", reverse("mfa_reauthenticate_webauthn")))
        if "totp" in kinds:
            found.append(_way("mfa", "Use a code of your authenticator app", reverse("mfa_reauthenticate")))
        if not found and user.has_usable_password():
            found.append(_way("password", "Use your password", reverse("account_reauthenticate")))
        if not found:
            found += [
                _way(f"oidc:{one.short}", f"Use {one.title}", reverse("oidc_confirm", args=[one.short]))
                for one in identities.providers_of(user)
            ]
        return found

    def reauthenticate(self, user: Any, password: str) -> bool:
        found = self.authenticate(context.request, email=user.email, password=password)
        return found is not None and found.pk == user.pk

    def pre_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse | None:
        """Whom the ledger speaks against comes in no more than somebody who is switched off."""
        response: HttpResponse | None = super().pre_login(request, user, **kwargs)
        if response is not None:
            return response
        try:
            why, told = proofs.against(user), "This sign-in is not accepted here."
        except Broken as fault:
            why, told = str(fault), UNPROVEN
        if why:
            log.error("a sign-in of %s was refused: %s", user.pk, why)
            clear_login(request)
            response = self._refused(request, told)
        return response

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        """No more is said than of an address that nobody has."""
        return self._refused(request, "This sign-in is not accepted here.")

    def _refused(self, request: HttpRequest, told: str) -> HttpResponse:
        messages.error(request, told)
        return redirect("account_login")

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        identities.link_pending(request)
        witness.note(user, "signin.done", {"methods": list(assurance.of_session(request).methods)})
        return response

    def set_password(self, user: Any, password: str) -> None:
        with transaction.atomic():
            replaced = proofs.way_of_password(user)
            user.set_password(password)
            user.replaced = b""  # it is told here
            user.save(update_fields=["password"])
            witness.note(user, "signin.password_changed", {"ended": replaced})
        letters.tell_of_change(user, "Your password was changed.")

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Letters go where the change is made; see below and `set_password`."""


def _way(key: str, words: str, url: str) -> dict[str, Any]:
    return {"id": key, "description": words, "url": url}


def _note_limit(request: HttpRequest) -> None:
    """Write down, once in a while, that somebody is tried too often; an address that nobody has is nobody's news."""
    person = _tried(request)
    if person is not None and cache.add(f"placet:limited:{person.pk.hex}", "1", timeout=LIMITED_SECONDS):
        witness.note(person, "signin.limited", by="system")


def _tried(request: HttpRequest) -> Person | None:
    if request.user.is_authenticated:
        return request.user
    stage = get_pending_stage(request)
    if stage is not None and stage.login.user is not None:
        return Person.objects.filter(pk=stage.login.user.pk).first()
    return Person.objects.at(request.POST.get("login", ""), is_active=True)
