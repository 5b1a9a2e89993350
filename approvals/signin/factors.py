"""Factors: what somebody proves who they are by beside the password; signed, sealed, and in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from allauth.core import context
from allauth.mfa import signals
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver
from django.http import HttpRequest

from approvals import assurance, letters, ways, witness
from approvals.ledger import boxes, canonical, keys
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.qr import drawn
from approvals.signin.entering import end_sessions, sign_out_elsewhere

STRONG: Final = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
NAMES: Final = {"totp": "totp", "webauthn": "passkey", "recovery_codes": "recovery_codes"}


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


def _factor_bytes(one: Authenticator) -> bytes:
    """What the proof of a factor is over: whose it is and what it is, and not what becomes of it."""
    what = {name: one.data[name] for name in ("credential", "secret", "seed") if name in one.data}
    return canonical.encode({"person": str(one.user_id), "type": str(one.type), "what": what})


def way_of(one: Authenticator) -> str:
    """By what the ledger names a factor once it was removed."""
    return ways.mark("factor", _factor_bytes(one))


def holds(one: Authenticator) -> bool:
    try:
        return keys.holds("factor", _factor_bytes(one), bytes.fromhex(str(one.data.get("mac", ""))))
    except (ValueError, keys.UnknownKey, canonical.Unrepresentable):
        return False


# Verbs


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


# Signed, written into the ledger, and told of


@receiver(pre_save, sender=Authenticator, dispatch_uid="placet.factor.sign")
def _sign(instance: Authenticator, **_: Any) -> None:
    if instance._state.adding:
        instance.data["mac"] = keys.sign("factor", _factor_bytes(instance)).hex()


@receiver(signals.authenticator_used, dispatch_uid="placet.factor.used")
def _check_used(request: HttpRequest, user: Any, authenticator: Authenticator, **how: Any) -> None:
    """Refuse a factor that was not added here, or was removed: nothing of what it proved stays. Raises
    PermissionDenied."""
    if not holds(authenticator) or _was_removed(authenticator):
        request.session.flush()
        raise PermissionDenied("This factor was not added by Placet.")
    if how.get("reauthenticated"):
        witness.note(user, "signin.confirmed", {"methods": [assurance.FACTORS[authenticator.type]]})


def _was_removed(one: Authenticator) -> bool:
    """Also where the ledger proves nothing."""
    try:
        return ways.has_ended(one.user, way_of(one))
    except Broken:
        return True


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
    told = {"factor": NAMES[instance.type], "ended": way_of(instance)}
    witness.note(instance.user, "factor.removed", told, by=by)
    if instance.type in STRONG:
        letters.tell_of_change(instance.user, f"{_said(instance)} was removed from your sign-in.")


def _said(one: Authenticator) -> str:
    return "An authenticator app" if one.type == Authenticator.Type.TOTP else "A passkey"
