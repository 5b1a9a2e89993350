"""The routes of runs: an agent starts its runs, reads them, and withdraws them."""

from __future__ import annotations

import re
from typing import Any, Final

from ninja import Field, Header, Query, Router, Schema, Status
from pydantic import ConfigDict

from approvals import rows
from approvals.ledger import canonical, entries
from approvals.ledger.sealing import Erased as SealErased
from approvals.ledger.sealing import Tampered
from runtime import budgets, checkpoints, definitions, runs, state
from runtime.api import shapes
from runtime.api.access import Credential
from runtime.api.errors import Problem
from runtime.api.limits import Starts
from runtime.checkpoints import Checkpoint, Erased, Unreadable
from runtime.credentials import Caller
from runtime.runs import Run
from runtime.threads import Thread

router = Router(tags=["runs"], auth=Credential())

KEY: Final = re.compile(r"[\x21-\x7e]{1,120}")
MOST: Final = 100


class BudgetIn(Schema):
    """What the run may spend: tokens, money in minor units of `currency`, steps, and seconds of wall time without those
    in which people are waited for. At a cap people are asked to raise it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tokens: int | None = Field(None, ge=0)
    money: int | None = Field(None, ge=0)
    currency: str = Field("", max_length=3)
    steps: int | None = Field(None, ge=0)
    seconds: int | None = Field(None, ge=0)

    def caps(self) -> dict[str, Any]:
        """Those that are named."""
        return {name: cap for name, cap in self.dict().items() if cap not in (None, "")}


class RunIn(Schema):
    """What a run is to work on. The agent is the one whose credential is sent."""

    model_config = ConfigDict(extra="forbid", strict=True)

    input: dict[str, Any] = Field(description="The run's state begins as `{input: …}`.")
    title: str = Field("", max_length=200, description="What it is about, shown to people.")
    thread_id: str | None = Field(None, min_length=1, description="The conversation that it continues.")
    budget: BudgetIn | None = Field(None, description="Caps that lower those of the agent's definition.")
    rehearsal: bool = Field(False, description="People are asked as always, and nothing of it is ever sent.")


class Withdrawal(Schema):
    """Why a run is withdrawn."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field("", max_length=500)


@router.post(
    "/runs",
    throttle=Starts(),
    response={(200, 201): shapes.RunDetail, (400, 401, 403, 404, 409, 413, 415, 422, 429): shapes.Error},
    summary="Start a run",
    operation_id="start_run",
)
def start_run(
    request: Any,
    payload: RunIn,
    idempotency_key: str | None = Header(
        None, alias="Idempotency-Key", description="Sent again with the same body, it starts nothing and answers 200."
    ),
) -> Any:
    """Accept a run: it is stored before this answers, and a worker takes it up.

    With an `Idempotency-Key` it can be sent again: the same body gets the same run, another body 409. An agent that
    starts runs faster than people can answer gets 429, and `Retry-After` says in how many seconds it may go on.
    """
    caller: Caller = request.auth
    key = _start_key(caller, idempotency_key)
    caps = _caps(caller, payload.budget)
    known = Run.objects.filter(workspace_id=caller.workspace_id, start_key=key).exists() if key else False
    thread = _thread(caller, payload.thread_id) if payload.thread_id is not None else None
    try:
        run = runs.start(
            caller.workspace_id,
            caller.agent,
            input=payload.input,
            title=payload.title or caller.name,
            by=caller.public_id,
            requester_id=caller.requester_id,
            thread=thread,
            key=key,
            budget=caps,
            rehearsal=payload.rehearsal,
        )
    except state.NotState as fault:
        raise Problem(422, "invalid", str(fault), field=fault.pointer or "/input", rule="state") from fault
    except definitions.TakesNoRuns as fault:
        raise Problem(409, "agent_unusable", str(fault)) from fault
    if key and not (_same(run, payload, caller, thread) and _same_budget(run, caps, caller)):
        told = "This Idempotency-Key was used with another body."
        raise Problem(409, "key_reused", told, field="Idempotency-Key", rule="same_body")
    return Status(200 if known else 201, shapes.run_detail(run_of(caller, run.public_id)))


def _start_key(caller: Caller, given: str | None) -> str | None:
    """The key as it is stored: each agent has its own, so that none meets another's."""
    if given is None:
        return None
    if not KEY.fullmatch(given):
        told = "An Idempotency-Key is 1 to 120 visible ASCII characters."
        raise Problem(422, "invalid", told, field="Idempotency-Key", rule="pattern")
    return f"api:{caller.agent.pk.hex}:{given}"


def _same(run: Run, payload: RunIn, caller: Caller, thread: Thread | None) -> bool:
    """Whether a run was started with just this body, on behalf of the same person."""
    try:
        ops = checkpoints.body_of(Checkpoint.objects.get(run=run, seq=1))["ops"]
        title = runs.title_of(run)
    except (Erased, SealErased) as fault:
        raise Problem(409, "erased", "The run that this Idempotency-Key began was erased.") from fault
    except (Unreadable, Tampered) as fault:
        raise Problem(409, "tampered", str(fault)) from fault
    wanted = state.changes({"input": payload.input}, {}, ())
    told = title == (payload.title or caller.name) and run.requester_id == caller.requester_id
    told = told and run.rehearsal == payload.rehearsal
    return told and _same_thread(run, thread) and canonical.encode(ops) == canonical.encode(wanted)


def _caps(caller: Caller, given: BudgetIn | None) -> dict[str, Any]:
    """The caps that the request names, checked together with those of the agent's definition."""
    own = caller.agent.versions.get(number=caller.agent.version).document.get("budget", {})
    try:
        caps = budgets.caps(given.caps()) if given else {}
        budgets.tighter(own, caps)
    except ValueError as fault:
        raise Problem(422, "invalid", str(fault), field="/budget", rule="budget") from fault
    return caps


def _same_budget(run: Run, caps: dict[str, Any], caller: Caller) -> bool:
    """Whether a run was started with just these caps: as it was started, whatever was raised since."""
    started = entries.read(caller.workspace_id, run.public_id)[0].get("budget", {})
    return bool(started == budgets.tighter(run.version.document.get("budget", {}), caps))


def _same_thread(run: Run, thread: Thread | None) -> bool:
    """Whether the run goes on with this thread or, where none was named, began its own."""
    if thread is not None:
        return run.thread_id == thread.pk
    return not Run.objects.filter(thread=run.thread_id, created_at__lt=run.created_at).exists()


def _thread(caller: Caller, thread_id: str) -> Thread:
    key = rows.parse_id(Thread.PREFIX, thread_id)
    own = Thread.objects.filter(workspace_id=caller.workspace_id, runs__agent=caller.agent).distinct()
    found = own.filter(pk=key).first() if key else None
    if found is None:
        raise Problem(404, "not_found", "There is no such thread.", field="/thread_id")
    return found


@router.get(
    "/runs",
    response={200: shapes.RunPage, (401, 403, 422): shapes.Error},
    summary="List runs",
    operation_id="list_runs",
)
def list_runs(
    request: Any,
    status: Run.Status | None = None,
    limit: int = Query(50, ge=1, description=f"At most {MOST}."),
    cursor: str = "",
) -> Any:
    """The agent's runs, newest first. `next` is the cursor of the following page."""
    caller: Caller = request.auth
    found = _own(caller)
    found = found.filter(status=status) if status else found
    with rows.within(caller.workspace_id):
        try:
            page, following = rows.newest(found, limit=min(limit, MOST), cursor=cursor)
        except ValueError as fault:
            raise Problem(422, "invalid", str(fault), field="cursor", rule="cursor") from fault
        return {"runs": [shapes.run_out(run) for run in page], "next": following or None}


@router.get(
    "/runs/{run_id}",
    response={200: shapes.RunDetail, (401, 403, 404): shapes.Error},
    summary="Read a run",
    operation_id="read_run",
)
def read_run(request: Any, run_id: str) -> Any:
    """A run and its calls: how each ended, what it returned, and the approval that it waits for."""
    return shapes.run_detail(run_of(request.auth, run_id))


@router.post(
    "/runs/{run_id}/withdraw",
    response={200: shapes.RunDetail, (400, 401, 403, 404, 409, 415, 422): shapes.Error},
    summary="Withdraw a run",
    operation_id="withdraw_run",
)
def withdraw_run(request: Any, run_id: str, payload: Withdrawal) -> Any:
    """End a run: what it still asks people is withdrawn, and nothing more is sent. There is no way to withdraw one call
    and go on without it."""
    caller: Caller = request.auth
    run = run_of(caller, run_id)
    reason = payload.reason.strip() or f"Withdrawn by {caller.name}."
    if not runs.cancel(run, by=caller.public_id, reason=reason) and not _own(caller).get(pk=run.pk).cancel_by:
        raise Problem(409, "ended", f"The run is {run.status} already.", field="run_id", rule="open")
    return shapes.run_detail(run_of(caller, run_id))


class Me(Schema):
    """The agent whose credential was sent, and its workspace."""

    agent_id: str
    agent: str
    workspace: str
    workspace_name: str


@router.get("/me", response={200: Me, (401, 403): shapes.Error}, summary="Ask who this is", operation_id="who_am_i")
def who_am_i(request: Any) -> Any:
    """Which agent the credential is of, and the workspace whose name stands in the paths of approvals."""
    caller: Caller = request.auth
    home = caller.agent.workspace
    names = {"workspace": home.slug, "workspace_name": home.name}
    return {"agent_id": caller.public_id, "agent": caller.name, **names}


def _own(caller: Caller) -> Any:
    return Run.objects.filter(workspace_id=caller.workspace_id, agent=caller.agent).select_related("agent", "thread")


def run_of(caller: Caller, run_id: str) -> Run:
    """The agent's run of this id. A foreign, an unknown and a malformed one are answered alike."""
    key = rows.parse_id(Run.PREFIX, run_id)
    found: Run | None = _own(caller).filter(pk=key).first() if key else None
    if found is None:
        raise Problem(404, "not_found", "There is no such run.", field="run_id")
    return found
