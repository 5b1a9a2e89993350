"""The API's routes of approvals, and who calls them. The API itself is put together in `runtime/api/`."""

from __future__ import annotations

from typing import Any, Final, Literal

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from ninja import Query, Router, Status
from ninja.errors import AuthenticationError, AuthorizationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from approvals import rows, workspaces
from approvals.api_shapes import Detail, Error, Page, detail, refusal, summaries
from approvals.approvals import Approval
from approvals.ledger.sealing import Erased, Tampered
from approvals.people import Person, Workspace

router = Router(tags=["approvals"])

OWN: Final = {"same-origin", "none"}
NOWHERE: Final = refusal("not_found", "There is no such approval.")


# Who calls


def agent_of(request: HttpRequest) -> Any:
    """The agent whose credential the request carries, as the function says that settings name; None for people."""
    return import_string(settings.PLACET_AGENT_OF)(request)


class Credential(HttpBearer):
    """An agent's secret: `Authorization: Bearer plk_…`."""

    def __call__(self, request: HttpRequest) -> Any:
        """The agent; None if the request has no such header, so that the session is asked."""
        if "Authorization" not in request.headers:
            return None
        agent = agent_of(request)
        if agent is None:
            raise AuthenticationError
        return agent

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Not used: the whole header is read at once."""


class Session(APIKeyCookie):
    """A person's session, as the sign-in page gives it; what changes something also needs the header X-CSRFToken."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Any:
        """The person, or None. Agents are turned away before anything else of the request is looked at."""
        if "Authorization" in request.headers:
            raise AuthorizationError(message="People decide; an agent's credential never does.")
        if not request.user.is_authenticated:
            return None
        # The check looks for a form's field first: a body that was read as a form before cannot be read as JSON after.
        _ = request.body
        if check_csrf(request) or self._foreign(request):
            raise AuthorizationError(message="The header X-CSRFToken with this session's token is missing or wrong.")
        return request.user

    def _foreign(self, request: HttpRequest) -> bool:
        unsafe = request.method not in {"GET", "HEAD"}
        return unsafe and request.headers.get("Sec-Fetch-Site", "none") not in OWN

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        """Not used: Django has read the session already."""


READERS: Final = [Credential(), Session()]
PEOPLE: Final = [Session()]


def _scope(request: Any, slug: str) -> tuple[Workspace, Any] | None:
    """The workspace and the approvals in it that the caller may read; None alike for a foreign and an unknown one."""
    caller = request.auth
    if "\x00" in slug:  # no text column can be asked for it
        return None
    if isinstance(caller, Person):
        workspace = workspaces.entered(caller, slug)
        if workspace:
            rows.enter(workspace)
        return (workspace, Approval.objects.filter(workspace=workspace)) if workspace else None
    workspace = Workspace.objects.filter(pk=caller.workspace_id, slug=slug).first()
    own = Approval.objects.filter(workspace=workspace, agent=caller.name)
    # What people allow an agent beforehand, and how much of it is left, is no agent's to know.
    return (workspace, own.exclude(kind=Approval.Kind.GRANT)) if workspace else None


def found(request: Any, slug: str, approval_id: str) -> Approval | None:
    """The approval of this id, if the caller may read it."""
    scope, key = _scope(request, slug), rows.parse_id(Approval.PREFIX, approval_id)
    return scope[1].select_related("requester", "decided_by").filter(pk=key).first() if scope and key else None


# Reading


@router.get(
    "/workspaces/{slug}/approvals",
    auth=READERS,
    response={200: Page, (401, 403, 404, 422): Error},
    summary="List approvals",
    operation_id="list_approvals",
)
def list_approvals(
    request: HttpRequest,
    slug: str,
    status: Literal["pending", "approved", "answered", "rejected", "expired", "cancelled", "superseded"] | None = None,
    run_id: str | None = Query(None, min_length=1, description="Those of one run alone."),
    limit: int = Query(50, ge=1, description="At most 100."),
    cursor: str = "",
) -> Any:
    """Approvals of the workspace, newest first; an agent sees its own. `next` is the cursor of the following page."""
    scope = _scope(request, slug)
    if scope is None:
        return Status(404, refusal("not_found", "There is no such workspace."))
    workspace, found = scope
    found = found.select_related("requester", "decided_by")
    found = found.filter(status=status) if status else found
    found = found.filter(chain=run_id.replace("\x00", "")) if run_id else found
    with rows.within(workspace):
        try:
            page, following = rows.newest(found, limit=min(limit, 100), cursor=cursor)
        except ValueError as fault:
            return Status(422, refusal("invalid", str(fault), field="cursor", rule="cursor"))
        return {"approvals": summaries(workspace, page), "next": following or None}


@router.get(
    "/workspaces/{slug}/approvals/{approval_id}",
    auth=READERS,
    response={200: Detail, (401, 403, 404, 409, 410): Error},
    summary="Read an approval",
    operation_id="read_approval",
)
def read_approval(request: HttpRequest, slug: str, approval_id: str) -> Any:
    """One approval with its revisions and decisions, and what the agent said.

    A secret stands as `{"$kept": pointer}`; put the same in an edited action to keep it.
    """
    approval = found(request, slug, approval_id)
    if approval is None:
        return Status(404, NOWHERE)
    return _told(request, approval)


def _told(request: Any, approval: Approval) -> Any:
    reader = request.auth if isinstance(request.auth, Person) else None
    try:
        with rows.within(approval.workspace_id):
            return detail(approval, reader)
    except Erased:
        return Status(410, refusal("erased", "What was asked here was erased with its run."))
    except Tampered as fault:
        return Status(409, refusal("tampered", str(fault)))
