"""Who comes in: members of the workspace that the path names. To everybody else it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import unquote_to_bytes

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import never_cache

from approvals import rows, workspaces
from approvals.approvals import Approval
from approvals.people import Person, Workspace

P = ParamSpec("P")
OWN = {"same-origin", "none"}


class Visit(HttpRequest):
    """A request of a signed-in member: what a view gets once the door let it in."""

    user: Person
    workspace: Workspace
    my_workspaces: list[Workspace]


def member(view: Callable[Concatenate[Visit, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let in members of the workspace alone, send strangers to sign in; a foreign workspace is as if it did not exist.

    Pages are never kept by the browser: the back button asks again what is true now.
    """

    @wraps(view)
    def enter(request: Any, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        request.my_workspaces = workspaces.of_person(request.user)
        workspace = next((one for one in request.my_workspaces if one.slug == slug), None)
        if workspace is None:
            raise Http404
        request.workspace = workspace
        rows.enter(workspace)
        return view(request, *args, **kwargs)

    return never_cache(own_site(enter))


def own_site(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Refuse what changes something and comes from another site, where the browser says so; beside the form's token."""

    @wraps(view)
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in {"GET", "HEAD"} and request.headers.get("Sec-Fetch-Site", "none") not in OWN:
            return HttpResponse("This form came from another site.", status=403, content_type="text/plain")
        return view(request, *args, **kwargs)

    return enter


def outside(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: a request stands in no workspace until a door lets it into one, and in none once it is answered."""

    def begin(request: HttpRequest) -> HttpResponseBase:
        with rows.nowhere():
            return get_response(request)

    return begin


def legible(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: refuse a form whose bytes are no UTF-8, where Django would put other characters for them: nobody's
    words are changed. No browser sends such a form."""

    def read(request: HttpRequest) -> HttpResponseBase:
        _check_legible(request)
        return get_response(request)

    return read


def _check_legible(request: HttpRequest) -> None:
    """Raises BadRequest."""
    form = request.content_type == "application/x-www-form-urlencoded"
    if request.method != "POST" or not (form or request.content_type == "multipart/form-data"):
        return
    told = (request.content_params or {}).get("charset", "utf-8")
    try:
        (unquote_to_bytes(request.body) if form else request.body).decode()
    except UnicodeDecodeError:
        told = "none"
    if told.lower() not in {"utf-8", "utf8"}:
        raise BadRequest("A form is sent as UTF-8.")


def approval_of(visit: Visit, public_id: str) -> Approval:
    """The approval of this id in the visitor's workspace. Raises Http404 alike for a foreign, unknown, malformed id."""
    key = rows.parse_id(Approval.PREFIX, public_id)
    found = _NAMED.first(workspace=visit.workspace.pk, approval=key) if key else None
    if found is None:
        raise Http404
    return found


_NAMED = rows.Ready(
    lambda: Approval.objects.select_related("requester", "decided_by").filter(
        workspace_id=rows.Slot("workspace"), pk=rows.Slot("approval")
    )
)


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A whole page goes to the sign-in and comes back; a part of one is told so, to leave the page as it is."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401)
    asked = request.path.removesuffix("/decision").removesuffix("/comments").removesuffix("/nudge")
    return redirect_to_login(request.get_full_path() if request.method == "GET" else asked)
