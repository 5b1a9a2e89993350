"""Signing in, and confirming who one is: allauth's flows, with what Placet asks of them. Nobody signs up.

Who has a second factor is never asked for less: not at the sign-in, and not where they confirm that it is them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.internal.stagekit import get_pending_stage
from allauth.account.models import Login
from allauth.account.views import LoginView, PasswordChangeView
from allauth.core import context, ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa import signals
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import ReauthenticateForm
from allauth.mfa.base.internal.flows import check_rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from approvals import assurance, identities, letters, providers, witness
from approvals.ledger import boxes, canonical, keys
from approvals.people import Person
from approvals.qr import drawn

STRONG: Final = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
NAMES: Final = {"totp": "totp", "webauthn": "passkey", "recovery_codes": "recovery_codes"}
LIMITED_SECONDS: Final = 300
"""For so long a person who is tried too often is written down once."""


@dataclass(frozen=True)
class Factor:
    """What a person proves who they are by, beside the password: totp, passkey or recovery_codes."""

    key: int
    kind: str
    name: str
    added_at: datetime
    used_at: datetime | None


# Questions


def factors(person: Person) -> list[Factor]:
    """The person's second factors, as they were added."""
    found = Authenticator.objects.filter(user=person).order_by("created_at", "pk")
    return [Factor(one.pk, NAMES[one.type], str(one), one.created_at, one.last_used_at) for one in found]


def within_limits(request: HttpRequest, action: str, key: str | None = None) -> bool:
    """Count one try of an action that ACCOUNT_RATE_LIMITS names; False if there were too many."""
    return bool(ratelimit.consume(request, action=action, key=key))


def local(way: str | None) -> bool:
    """Whether a way back is a path of this site; a whole address is refused even if it names this host."""
    return bool(way) and str(way).startswith("/") and url_has_allowed_host_and_scheme(str(way), allowed_hosts=None)


# Verbs


def enter(request: HttpRequest, person: Person, method: str, *, to: str | None = None, **how: Any) -> HttpResponse:
    """Sign a person in who has proved who they are by ``method``; a second factor is asked for first where they have
    one."""
    record_authentication(request, person, method, **how)
    return perform_login(request, Login(user=person, redirect_url=to))


def confirm(request: Any, method: str, **how: Any) -> None:
    """Note that the person of this session has just proved again who they are."""
    record_authentication(request, request.user, method, reauthenticated=True, **how)
    witness.note(request.user, "signin.confirmed", {"methods": [method]})


def sign_out_elsewhere(request: Any) -> None:
    """End every other session of the request's person, at once."""
    person = request.user
    end_sessions(person)
    update_session_auth_hash(request, person)


def end_sessions(person: Person) -> None:
    """End every session of a person, at once."""
    Person.objects.filter(pk=person.pk).update(sign_outs=models.F("sign_outs") + 1)
    person.refresh_from_db(fields=["sign_outs"])


def drop_factors(person: Person, *, by: str) -> int:
    """Take all second factors and recovery codes of a person away, for an operator whom they have convinced otherwise;
    returns how many. Their sessions end."""
    with transaction.atomic():
        dropped = Authenticator.objects.filter(user=person).count()
        for one in Authenticator.objects.filter(user=person):
            one.dropped_by = by
            one.delete()
        end_sessions(person)
    return dropped


# What allauth asks us


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

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        """No more is said than of an address that nobody has."""
        messages.error(request, "This sign-in is not accepted here.")
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
            super().set_password(user, password)
            witness.note(user, "signin.password_changed")
        letters.tell_of_change(user, "Your password was changed.")

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Letters go where the change is made; see below and `set_password`."""


class FactorAdapter(DefaultMFAAdapter):
    """Second factors: their secrets are closed with a key outside the database."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "That was not accepted. Try again.",
    }

    def encrypt(self, text: str) -> str:
        return boxes.close("factor", text.encode(), place="mfa_authenticator.data").hex()

    def decrypt(self, encrypted_text: str) -> str:
        return boxes.reopen("factor", bytes.fromhex(encrypted_text), place="mfa_authenticator.data").decode()

    def build_totp_svg(self, url: str) -> str:
        return drawn(url)

    def _get_site_name(self) -> str:
        return "Placet"

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return f"Passkey {count + 1}" if count else "Passkey"

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """See below."""


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
    return Person.objects.filter(email=request.POST.get("login", "").strip().lower(), is_active=True).first()


# Pages of allauth, changed


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


def _whole(view: type) -> Any:
    """A view whose change and whose ledger entries are one transaction."""
    return transaction.atomic(view.as_view())  # type: ignore[attr-defined]


sign_in = SignIn.as_view()
change_password = PasswordChangeView.as_view()
activate_totp = _whole(ActivateTOTPView)
deactivate_totp = _whole(DeactivateTOTPView)
add_passkey = _whole(AddWebAuthnView)
remove_passkey = _whole(RemoveWebAuthnView)


# Factors: signed, written into the ledger, and told of


@receiver(pre_save, sender=Authenticator, dispatch_uid="placet.factor.sign")
def _sign(instance: Authenticator, **_: Any) -> None:
    if instance._state.adding:
        instance.data["mac"] = keys.sign("factor", _factor_bytes(instance)).hex()


def _factor_bytes(one: Authenticator) -> bytes:
    """What the proof of a factor is over: whose it is and what it is, and not what becomes of it."""
    what = {name: one.data[name] for name in ("credential", "secret", "seed") if name in one.data}
    return canonical.encode({"person": str(one.user_id), "type": str(one.type), "what": what})


def _holds(one: Authenticator) -> bool:
    try:
        return keys.holds("factor", _factor_bytes(one), bytes.fromhex(str(one.data.get("mac", ""))))
    except (ValueError, keys.UnknownKey, canonical.Unrepresentable):
        return False


@receiver(signals.authenticator_used, dispatch_uid="placet.factor.used")
def _check_used(request: HttpRequest, user: Any, authenticator: Authenticator, **how: Any) -> None:
    """Refuse a factor that was not added here: nothing of what it proved stays. Raises PermissionDenied."""
    if not _holds(authenticator):
        request.session.flush()
        raise PermissionDenied("This factor was not added by Placet.")
    if how.get("reauthenticated"):
        witness.note(user, "signin.confirmed", {"methods": [assurance.FACTORS[authenticator.type]]})


@receiver(post_save, sender=Authenticator, dispatch_uid="placet.factor.added")
def _added(instance: Authenticator, created: bool, **_: Any) -> None:
    if not created:
        return
    witness.note(instance.user, "factor.added", {"factor": NAMES[instance.type]})
    request = context.request
    if instance.type in STRONG and request is not None and request.user == instance.user:
        # Who signed in with less, elsewhere, signs in again.
        sign_out_elsewhere(request)
        letters.tell_of_change(instance.user, f"{_said(instance)} was added to your sign-in.")


@receiver(post_delete, sender=Authenticator, dispatch_uid="placet.factor.removed")
def _removed(instance: Authenticator, **_: Any) -> None:
    by = getattr(instance, "dropped_by", None)
    witness.note(instance.user, "factor.removed", {"factor": NAMES[instance.type]}, by=by)
    if instance.type in STRONG:
        letters.tell_of_change(instance.user, f"{_said(instance)} was removed from your sign-in.")


def _said(one: Authenticator) -> str:
    return "An authenticator app" if one.type == Authenticator.Type.TOTP else "A passkey"
