"""The page of one checkpoint: the state after it as a tree, or what differs from another checkpoint of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Max
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals import gate, rows
from runtime import checkpoints, view
from runtime.checkpoints import Checkpoint
from runtime.pages import Visit, member, reads_state, run_of, title_of
from runtime.runs import Run
from runtime.uses import WORDS

KINDS: Final = {
    "input": "What the run was started with",
    "step": "A step of the agent",
    "result": "What a call came to",
    "decision": "What people changed",
}
ALL: Final = "all"
DIGITS: Final = 15


@require_safe
@member
def checkpoint(request: Visit, run_id: str, number: int) -> HttpResponse:
    """A checkpoint's state. The address says what it is compared with (``with``), which place of the state it is about
    (``at``, and ``was`` in the older one), from where on (``after``), or that all of it is to be shown."""
    with rows.within(request.workspace):
        run = run_of(request, run_id)
        if not reads_state(request.user, run):
            return render(request, "runs/no_state.html", {"here": "runs", "run": run}, status=403)
        made = Checkpoint.objects.filter(run=run, seq=number).first() if number <= run.head_seq else None
        if made is None:
            raise Http404
        return render(request, "runs/checkpoint.html", _context(request, run, made))


@dataclass(frozen=True)
class Asked:
    """What the address asks for. ``base`` is the number of the checkpoint that it is compared with, 0 for none, and
    ``error`` what is wrong with the one that was asked for."""

    base: int
    at: str
    was: str | None
    skip: int
    error: str = ""


def _asked(request: Visit, run: Run, made: Checkpoint) -> Asked:
    given = {name: request.GET.get(name, "").replace("\x00", "") for name in ("with", "at", "was", "after", "show")}
    wanted = given["with"].strip()
    base, error = made.seq - 1, ""
    if wanted:
        base = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) <= DIGITS else 0
        if not 1 <= base <= run.head_seq or base == made.seq:
            told = f"Choose another checkpoint of this run, from 1 to {run.head_seq}."
            base, error = made.seq - 1, "This is the same checkpoint." if base == made.seq else told
    after = given["after"]
    skip = int(after) if after.isascii() and after.isdigit() and len(after) <= DIGITS else 0
    was = given["was"] if "was" in request.GET else None
    return Asked(0 if given["show"] == ALL else base, given["at"], was, skip, error)


def _context(request: Visit, run: Run, made: Checkpoint) -> dict[str, Any]:
    asked = _asked(request, run, made)
    told = {"here": "runs", "run": run, "title": title_of(run), "made": made, "kind": KINDS[str(made.kind)]}
    told |= {"size": len(made.body), "asked": asked, "wanted": request.GET.get("with", "").strip()[:DIGITS]}
    told |= {"before": made.seq - 1, "next": made.seq + 1 if made.seq < run.head_seq else 0}
    told |= {"step": Checkpoint.objects.filter(run=run, kind=Checkpoint.Kind.STEP, seq__lte=made.seq).count()}
    told |= {"open": [(call, WORDS[call.status]) for call in view.open_at(run, made.seq)]}
    try:
        view.check_head(run, made)
        after = view.state_after(run, made.seq)
    except checkpoints.Unreadable as fault:
        return told | _unreadable(run, fault)
    return told | _shown(run, asked, after)


def _shown(run: Run, asked: Asked, after: dict[str, Any]) -> dict[str, Any]:
    before: Any = gate.ABSENT
    base, missing = asked.base, ""
    if base:
        try:
            before = view.state_after(run, base)
        except checkpoints.Unreadable as fault:
            base, missing = 0, str(fault)
    tree = gate.tree(before, after, at=asked.at, was=asked.was, skip=asked.skip)
    if tree is None:
        raise Http404
    showing, compared = ("", base) if base else (ALL, 0)
    return {"tree": tree, "base": base, "missing": missing, "showing": showing, "compared": compared}


def _unreadable(run: Run, fault: checkpoints.Unreadable) -> dict[str, Any]:
    """Why there is no state to show: erased with the run, let go of when the run was pruned, or not as it was written.
    ``readable`` is the first checkpoint whose state can still be read."""
    if not isinstance(fault, checkpoints.Erased):
        return {"fault": str(fault)}
    if run.erased_at:
        return {"gone": "erased"}
    emptied = Checkpoint.objects.filter(run=run, body=b"").aggregate(last=Max("seq"))["last"]
    return {"gone": "pruned", "readable": emptied}
