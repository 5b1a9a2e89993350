"""A person's own account: how they sign in, and from where; and the two links that come by mail."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import (
    assurance,
    fresh,
    hours,
    identities,
    invitations,
    providers,
    resets,
    rows,
    signin,
    witness,
    words,
    workspaces,
)
from approvals.fresh import confirm_address as confirm_address
from approvals.invitations import Welcome
from approvals.pages.door import own_site
from approvals.people import Person
from approvals.votes import Refused

P = ParamSpec("P")
NAME_MOST = 120
METHODS = {
    "password": "your password",
    "totp": "a code of your app",
    "passkey": "a passkey",
    "recovery_code": "a recovery code",
    "oidc": "an identity provider",
}
"""By what somebody proved who they are, in words."""


class OwnVisit(HttpRequest):
    """A request of somebody who is signed in."""

    user: Person


def signed_in(view: Callable[Concatenate[OwnVisit, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let in whoever is signed in, and send others to sign in; nothing of it is kept by the browser."""

    @wraps(view)
    def enter(request: Any, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect(f"{reverse('account_login')}?{urlencode({'next': reverse('account')})}")
        return view(request, *args, **kwargs)

    return never_cache(own_site(enter))


def confirm_first(request: OwnVisit, back_to: str) -> HttpResponse | None:
    """Where to go first if this session's sign-in is not fresh; None if it is."""
    way = fresh.confirm_at(request, back_to)
    return redirect(way) if way else None


@require_safe
@signed_in
def account(request: OwnVisit) -> HttpResponse:
    """How the reader signs in, and which workspaces they belong to."""
    held, assured = signin.factors(request.user), assurance.of_session(request)
    return render(
        request,
        "account/page.html",
        {
            "passkeys": [one for one in held if one.kind == "passkey"],
            "totp": next((one for one in held if one.kind == "totp"), None),
            "codes": next((one for one in held if one.kind == "recovery_codes"), None),
            "identities": identities.of_person(request.user),
            "providers": [one for one in providers.every() if one not in identities.providers_of(request.user)],
            "my_workspaces": workspaces.of_person(request.user),
            "week": hours.of(request.user),
            "assured": assured,
            "proved_by": [METHODS.get(one, one) for one in assured.methods],
        },
    )


@require_POST
@signed_in
def sign_out_elsewhere(request: OwnVisit) -> HttpResponse:
    """End the reader's other sessions."""
    signin.sign_out_elsewhere(request)
    witness.note(request.user, "signin.others_ended")
    messages.success(request, "You are signed out everywhere else.")
    return redirect("account")


@require_POST
@signed_in
def unlink(request: OwnVisit, identity: str) -> HttpResponse:
    """Forget an identity, unless the reader could not sign in without it."""
    if first := confirm_first(request, reverse("account")):
        return first
    key = rows.parse_id("idn", identity)
    others = request.user.has_usable_password() or any(one.kind == "passkey" for one in signin.factors(request.user))
    if not others and len(identities.of_person(request.user)) < 2:
        messages.error(request, "This is the only way you can sign in, so it stays.")
    elif key is None or not identities.unlink(request.user, key):
        raise Http404
    return redirect("account")


# Links that come by mail. Looking at them changes nothing.


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_site
@sensitive_post_parameters("password", "token")
def join(request: Any) -> HttpResponse:
    """Accept an invitation: as somebody new, with a name and a password or an identity, or as who one is already."""
    token = (request.POST if request.method == "POST" else request.GET).get("token", "")
    if not signin.within_limits(request, "join"):
        return render(request, "429.html", status=429)
    welcome = invitations.open_with(token)
    if welcome is None:
        return said(request, "This invitation does not count", NOT_ANY_MORE, status=404)
    told = {"welcome": welcome, "token": token, "providers": providers.every()}
    told |= {"mine": request.user.is_authenticated and request.user.email == welcome.invitation.email}
    told |= {"rules": password_validators_help_texts(), "here": f"{reverse('join')}?{urlencode({'token': token})}"}
    if request.method != "POST":
        return render(request, "account/join.html", told)
    return _known(request, welcome, told) if welcome.known else _new(request, welcome, told)


NOT_ANY_MORE = "It was used or withdrawn, or it has expired. Ask whoever invited you for another."


def _known(request: Any, welcome: Welcome, told: dict[str, Any]) -> HttpResponse:
    if not told["mine"]:
        return redirect(f"{reverse('account_login')}?{urlencode({'next': told['here']})}")
    if refused := invitations.accept(welcome, request.user):
        return said(request, "This invitation does not count", refused.message, status=409)
    return redirect("inbox", welcome.workspace.slug)


def _new(request: Any, welcome: Welcome, told: dict[str, Any]) -> HttpResponse:
    name, password = words.spoken(request.POST.get("name", "")), request.POST.get("password", "")
    faults = _password_faults(password, Person(email=welcome.invitation.email, name=name))
    missing = "" if 0 < len(name) <= NAME_MOST and "\x00" not in name else "Your name, as others know you."
    if faults or missing:
        return render(
            request, "account/join.html", told | {"name": name, "name_fault": missing, "faults": faults}, status=422
        )
    answer = invitations.accept_as_new(welcome, name=name, password=password)
    if isinstance(answer, Refused):
        return said(request, "This invitation does not count", answer.message, status=409)
    return signin.enter(request, answer, "password", to=reverse("inbox", args=[welcome.workspace.slug]))


def _password_faults(password: str, person: Person) -> list[str]:
    try:
        validate_password(password, person)
    except ValidationError as fault:
        return list(fault.messages)
    return [] if "\x00" not in password else ["A password cannot hold U+0000."]


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_site
def forgotten(request: Any) -> HttpResponse:
    """Ask for a link to a new password. The answer is the same whoever asks for whom."""
    if request.method != "POST":
        return render(request, "account/forgotten.html")
    email = request.POST.get("email", "").strip().lower()[:254]
    if not signin.within_limits(request, "reset_password", email):
        return render(request, "429.html", status=429)
    resets.ask(email.replace("\x00", ""))
    told = "If somebody here has this address, a letter is on its way. Its link counts for half an hour."
    return said(request, "Look into your mail", told)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_site
@sensitive_post_parameters("password", "token")
def reset(request: Any) -> HttpResponse:
    """Choose a new password by the link of a letter; then sign in with it, second factor included."""
    token = (request.POST if request.method == "POST" else request.GET).get("token", "")
    if not signin.within_limits(request, "reset_password_from_key"):
        return render(request, "429.html", status=429)
    held = resets.open_with(token)
    told = {"token": token, "rules": password_validators_help_texts()}
    if held is not None and request.method != "POST":
        return render(request, "account/reset.html", told)
    if held is not None and (faults := _password_faults(request.POST.get("password", ""), held.person)):
        return render(request, "account/reset.html", told | {"faults": faults}, status=422)
    if held is None or resets.use(token, request.POST["password"]) is None:
        again = "It was used already, or it has expired. Ask for another."
        return said(request, "This link does not count", again, status=404)
    return said(request, "Your password is set", "Every session was ended. Sign in with the new password.")


def said(request: HttpRequest, title: str, text: str, *, status: int = 200) -> HttpResponse:
    """A page of one sentence."""
    return render(request, "account/said.html", {"title": title, "text": text}, status=status)
