"""The routes of a run's history: its checkpoints, its timeline, and its events behind a cursor."""

from __future__ import annotations

from typing import Any

from ninja import Path, Query, Router

from approvals import rows
from runtime import events
from runtime.api import runs, shapes
from runtime.api.access import Credential
from runtime.api.errors import Problem
from runtime.api.runs import MOST
from runtime.checkpoints import Checkpoint, Erased, Unreadable

router = Router(tags=["runs"], auth=Credential())


@router.get(
    "/runs/{run_id}/checkpoints",
    response={200: shapes.CheckpointPage, (401, 403, 404, 409, 422): shapes.Error},
    summary="List a run's checkpoints",
    operation_id="list_checkpoints",
)
def list_checkpoints(request: Any, run_id: str, after: int = Query(0, ge=0), limit: int = Query(50, ge=1)) -> Any:
    """A run's checkpoints after a number, each with the changes it made to the state."""
    run = runs.run_of(request.auth, run_id)
    most = min(limit, MOST)
    found = list(Checkpoint.objects.filter(run=run, seq__gt=after).order_by("seq")[: most + 1])
    try:
        told = [shapes.checkpoint_out(each) for each in found[:most]]
    except Unreadable as fault:
        raise Problem(409, "tampered", str(fault)) from fault
    return {"checkpoints": told, "next": told[-1]["number"] if len(found) > most else None}


@router.get(
    "/runs/{run_id}/checkpoints/{number}",
    response={200: shapes.CheckpointDetail, (401, 403, 404, 409, 410, 422): shapes.Error},
    summary="Read a checkpoint",
    operation_id="read_checkpoint",
)
def read_checkpoint(request: Any, run_id: str, number: int = Path(..., ge=1, le=2**53)) -> Any:
    """One checkpoint of a run and the state after it: variables, plan, results, usage, and what was still to happen."""
    run = runs.run_of(request.auth, run_id)
    try:
        with rows.within(run.workspace_id):
            return shapes.checkpoint_detail(run, number)
    except Checkpoint.DoesNotExist:
        raise Problem(404, "not_found", "There is no such checkpoint.", field="number") from None
    except Erased as fault:
        raise Problem(410, "erased", str(fault)) from fault
    except Unreadable as fault:
        raise Problem(409, "tampered", str(fault)) from fault


@router.get(
    "/runs/{run_id}/timeline",
    response={200: shapes.Timeline, (401, 403, 404): shapes.Error},
    summary="Read a run's timeline",
    operation_id="run_log",
)
def run_log(request: Any, run_id: str) -> Any:
    """Everything that happened in a run, in order: steps, questions, votes, edits, attempts, outcomes."""
    return shapes.timeline_out(runs.run_of(request.auth, run_id))


@router.get(
    "/runs/{run_id}/events",
    response={200: shapes.EventPage, (401, 403, 404, 422): shapes.Error},
    summary="Follow a run's events",
    operation_id="follow_run",
)
def follow_run(
    request: Any,
    run_id: str,
    after: str = Query("", description="The `next` of an earlier page; the beginning if empty."),
    limit: int = Query(100, ge=1, description=f"About so many, at most {events.MOST}."),
) -> Any:
    """What happened in a run behind a cursor, in an order that never changes. An empty page means: nothing new yet."""
    run = runs.run_of(request.auth, run_id)
    try:
        page = events.follow(run, after=after, limit=limit)
    except ValueError as fault:
        raise Problem(422, "invalid", str(fault), field="after", rule="cursor") from fault
    return {"events": [each.out() for each in page], "next": page[-1].cursor if page else after or events.BEGINNING}
