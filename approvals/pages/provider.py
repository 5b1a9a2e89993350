"""Signing in through an identity provider: to it, back from it, and the question before a first link."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import identities, invitations, providers, signin
from approvals.pages.account import NOT_ANY_MORE, OwnVisit, confirm_first, said, signed_in
from approvals.pages.door import own_site
from approvals.providers import Claims, Provider, Untrusted
from approvals.votes import Refused

log = logging.getLogger(__name__)

ASKED, FIRST = "oidc_asked", "oidc_first"
SECONDS = 600
"""So long somebody has at the provider, and then to say that it is them."""


def provider_of(short: str) -> Provider:
    """The provider of this short name. Raises Http404."""
    found = providers.named(short)
    if found is None:
        raise Http404
    return found


def _back(provider: Provider) -> str:
    return f"{settings.PLACET_URL}{reverse('oidc_callback', args=[provider.short])}"


def _refused(request: Any, provider: Provider, fault: Untrusted) -> HttpResponse:
    """The reason is for those who run Placet, in the log; a stranger learns that it did not work."""
    log.warning("a sign-in by %s was refused: %s", provider.short, fault)
    told = f"What {provider.title} said cannot be believed, so nobody was signed in. Nothing else was tried instead."
    return said(request, "That did not work", told, status=403)


@require_POST
@never_cache
@own_site
def begin(request: Any, short: str) -> HttpResponse:
    """Go to the provider to sign in, or with an invitation's token to accept it."""
    provider = provider_of(short)
    if not signin.within_limits(request, "oidc"):
        return render(request, "429.html", status=429)
    if request.user.is_authenticated:
        return redirect("home")
    token = request.POST.get("token", "")
    return _go(request, provider, {"process": "join" if token else "enter", "token": token})


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def confirm(request: OwnVisit, short: str) -> HttpResponse:
    """Confirm that it is you, where the provider is how you sign in: it has to ask you again."""
    provider = provider_of(short)
    if not _confirms(request, provider):
        raise Http404
    if request.method != "POST":
        way = request.GET.get("next", "")
        return render(request, "account/confirm_there.html", {"provider": provider, "redirect_field_value": way})
    if not signin.within_limits(request, "oidc"):
        return render(request, "429.html", status=429)
    return _go(request, provider, {"process": "confirm"}, fresh=True)


def _confirms(request: Any, provider: Provider) -> bool:
    """Whether the person may confirm by this provider: never where they have a second factor."""
    strong = {factor.kind for factor in signin.factors(request.user)} & {"passkey", "totp"}
    return not strong and provider in identities.providers_of(request.user)


@require_POST
@signed_in
def link(request: OwnVisit, short: str) -> HttpResponse:
    """Link an identity to the reader's account, after a fresh sign-in."""
    provider = provider_of(short)
    return confirm_first(request, reverse("account")) or _go(request, provider, {"process": "link"})


def _go(request: Any, provider: Provider, what: dict[str, Any], *, fresh: bool = False) -> HttpResponse:
    try:
        there, kept = providers.begin(provider, _back(provider), fresh=fresh)
    except Untrusted as fault:
        return _refused(request, provider, fault)
    way = request.POST.get("next", "")
    person = str(request.user.pk) if request.user.is_authenticated else ""
    request.session[ASKED] = kept | what | {"next": way if signin.local(way) else "", "person": person}
    return redirect(there)


@require_safe
@never_cache
def callback(request: Any, short: str) -> HttpResponse:
    """Back from the provider. What it says is believed once, by the session that asked."""
    provider = provider_of(short)
    kept = request.session.pop(ASKED, None)
    person = str(request.user.pk) if request.user.is_authenticated else ""
    try:
        if kept is None or kept["short"] != short or kept["person"] != person or _late(kept["began"]):
            raise Untrusted("This session asked nothing, or too long ago.")
        claims = providers.finish(provider, kept, request.GET.dict(), _back(provider))
        return BACK[kept["process"]](request, provider, claims, kept)
    except Untrusted as fault:
        return _refused(request, provider, fault)


def _late(began: float) -> bool:
    return not 0 <= time.time() - began < SECONDS


def _enter(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    person = identities.person_of(claims)
    if person is not None:
        return signin.enter(request, person, "oidc", to=kept["next"] or None, auth_time=claims.auth_time)
    if identities.candidate(provider, claims) is None:
        raise Untrusted("Nobody here is linked to this subject.")
    return _ask(request, provider, claims, kept)


def _confirm(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    if not _confirms(request, provider) or identities.person_of(claims) != request.user:
        raise Untrusted("Somebody else confirmed.")
    signin.confirm(request, "oidc", auth_time=claims.auth_time)
    return redirect(kept["next"] or "account")


def _ask(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    told = {name: kept[name] for name in ("process", "token", "next") if name in kept}
    request.session[FIRST] = told | {"short": provider.short, "claims": asdict(claims), "began": time.time()}
    return redirect("oidc_first")


BACK = {"enter": _enter, "confirm": _confirm, "link": _ask, "join": _ask}


# The first link


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_site
def first(request: Any) -> HttpResponse:
    """Ask whether an identity and an account belong together; only a yes links them."""
    kept = request.session.get(FIRST)
    if kept is None or _late(kept["began"]):
        return said(request, "That took too long", "Nothing was linked. Begin again.", status=404)
    provider, claims = provider_of(kept["short"]), Claims(**kept["claims"])
    if request.method != "POST":
        told = {"provider": provider, "claims": claims, "process": kept["process"]}
        return render(request, "account/first.html", told | _subject(request, provider, claims, kept))
    del request.session[FIRST]
    try:
        return SAID_YES[kept["process"]](request, provider, claims, kept)
    except Untrusted as fault:
        return _refused(request, provider, fault)


def _subject(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> dict[str, Any]:
    if kept["process"] == "join":
        return {"welcome": invitations.open_with(kept["token"])}
    return {"person": request.user if kept["process"] == "link" else identities.candidate(provider, claims)}


def _link_yes(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    if not request.user.is_authenticated:
        raise Untrusted("Nobody is signed in to link to.")
    if again := confirm_first(request, reverse("account")):
        return again
    if not identities.link(request.user, claims):
        return said(request, "Linked already", "That sign-in belongs to somebody here already.", status=409)
    return redirect("account")


def _enter_yes(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    person = identities.candidate(provider, claims)
    if person is None or request.user.is_authenticated:
        raise Untrusted("Nobody here may be linked to this subject any more.")
    identities.keep_pending(request, person, claims)
    return signin.enter(request, person, "oidc", to=kept["next"] or None, auth_time=claims.auth_time)


def _join_yes(request: Any, provider: Provider, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    welcome = invitations.open_with(kept["token"])
    if welcome is None or welcome.known is not None:
        return said(request, "This invitation does not count", NOT_ANY_MORE, status=404)
    name = claims.name or request.POST.get("name", "").strip()[:120] or welcome.invitation.email.partition("@")[0]
    answer = invitations.accept_as_new(welcome, name=name.replace("\x00", ""), claims=claims)
    if isinstance(answer, Refused):
        return said(request, "This invitation does not count", answer.message, status=409)
    to = reverse("inbox", args=[welcome.workspace.slug])
    return signin.enter(request, answer, "oidc", to=to, auth_time=claims.auth_time)


SAID_YES = {"enter": _enter_yes, "link": _link_yes, "join": _join_yes}
