"""Every entry of the ledger, by who, what and when, each told as a sentence; and one entry with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals import filing, rows
from approvals.filing import Filed
from approvals.ledger import anchors
from approvals.ledger.entries import Entry
from approvals.ledger_places import sees_all
from approvals.pages import narrowing
from approvals.pages.door import Visit, member
from approvals.pages.ledger_head import head
from approvals.pages.ledger_lines import CHANNELS, Line, lines, names_in
from approvals.pages.narrowing import SIZES, Option
from approvals.people import Workspace
from approvals.rows import bounded

VERDICTS = {
    "approve": "Approved",
    "edit": "Edited",
    "reject": "Rejected",
    "respond": "Answered",
    "choose": "Chosen",
    "stop": "Stopped",
    "retract": "Taken back",
    "override": "Glass broken",
    "refused": "Attempt refused",
    "expired": "Expired",
    "withdrawn": "Withdrawn",
    "allow": "Allowed by a rule",
    "deny": "Denied by a rule",
    "require_approval": "People were asked",
}
COLUMNS = {"person": "by", "tool": "tool", "agent": "agent", "verdict": "verdict", "channel": "via"}
"""What the address calls a filter, and the column that it is of."""
FIELDS = (*COLUMNS, "from", "to", "size", "after")
PRINTED = 1_000
"""So many entries are printed at once."""
ORDER = ("-at", "-seq", "-pk")


@require_safe
@member
def entries(request: Visit) -> HttpResponse:
    """One page of entries, the newest first."""
    with rows.within(request.workspace):
        behind = filing.file_new(request.workspace.pk)
        context = _context(request) | {"behind": behind}
        return render(request, "ledger/entries.html", context)


def _context(request: Visit) -> dict[str, Any]:
    workspace, asked, everything = (
        request.workspace,
        narrowing.asked(request, FIELDS),
        sees_all(request.workspace, request.user),
    )
    printed = bool(request.GET.get("print"))
    size = PRINTED if printed else narrowing.size(asked["size"])
    offered = choices(workspace, asked)
    found = narrowed(workspace, asked, everything=everything)
    listed = list(after(found, asked["after"]).order_by(*ORDER)[: size + 1])
    return {
        "here": "ledger",
        **head(request, "ledger_entries", asked, offered),
        "printed": printed,
        "asked": asked,
        "everything": everything,
        "choices": offered,
        "lines": lines_of(workspace, listed[:size]),
        "total": bounded.total(found),
        "size": size,
        "sizes": SIZES,
        "next": cursor(listed[size - 1]) if len(listed) > size else "",
    }


def narrowed(workspace: Workspace, asked: Mapping[str, str], *, everything: bool) -> QuerySet[Filed]:
    """The entries that an address asks for; without ``everything`` only those about calls, approvals and runs."""
    found = Filed.objects.filter(workspace=workspace)
    found = found if everything else found.exclude(about="")
    wanted = {column: asked[name] for name, column in COLUMNS.items() if asked[name]}
    return found.filter(narrowing.between("at", asked["from"], asked["to"]), **wanted)


def lines_of(workspace: Workspace, listed: list[Filed], *, with_cards: bool = True) -> list[Line]:
    """What the entries themselves say that were found."""
    known = Entry.objects.select_related("chain").in_bulk([one.pk for one in listed])
    found = [known[one.pk] for one in listed if one.pk in known]
    return lines(workspace, found, {one.pk: one for one in listed}, with_cards=with_cards)


def cursor(last: Filed) -> str:
    """Where the page behind this entry begins."""
    return narrowing.cursor(last.at, str(last.seq), last.pk.hex)


def after(found: QuerySet[Filed], cursor: str) -> QuerySet[Filed]:
    read = narrowing.read_cursor(cursor)
    if read is None or len(read[1]) != 2:
        return found
    at, (seq, key) = read
    if not (seq.isascii() and seq.isdigit() and len(seq) < 19) or narrowing.key_of(key) is None:
        return found
    later = Q(at__lt=at) | Q(at=at, seq__lt=int(seq)) | Q(at=at, seq=int(seq), pk__lt=narrowing.key_of(key))
    return found.filter(later, at__lte=at)


def choices(workspace: Workspace, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    """The filters and what each of them offers."""
    used = {name: bounded.values(Filed, column, workspace.pk, most=200) for name, column in COLUMNS.items()}
    names = names_in(workspace, [{"by": used["person"]}])
    folk: list[Option] = sorted(((one, names.get(one, one)) for one in used["person"]), key=lambda one: one[1].lower())
    offered: list[tuple[str, str, list[Option]]] = [
        ("person", "Who", folk),
        ("verdict", "Verdict", [(one, VERDICTS[one]) for one in VERDICTS if one in used["verdict"]]),
        ("tool", "Tool", [(one, one) for one in used["tool"] if one]),
        ("agent", "Agent", [(one, one) for one in used["agent"] if one]),
        ("channel", "Through", [(one, CHANNELS.get(one, one)) for one in used["channel"] if one]),
    ]
    return [narrowing.choice(name, label, asked[name], options) for name, label, options in offered]


# One entry


@require_safe
@member
def entry(request: Visit, entry_id: str) -> HttpResponse:
    """What an entry says, word for word, and what proves that it is as it was written."""
    with rows.within(request.workspace):
        key = rows.parse_id(Entry.PREFIX, entry_id)
        known = Entry.objects.filter(workspace=request.workspace).select_related("chain")
        found = known.filter(pk=key).first() if key else None
        if found is None or not (
            sees_all(request.workspace, request.user) or filing.about_what(found.chain.name, filing.read(found.body))
        ):
            raise Http404
        (line,) = lines(request.workspace, [found], Filed.objects.in_bulk([found.pk]))
        context = {"here": "ledger", "line": line, "entry": found, "proof": _proof(found)}
        return render(request, "ledger/entry.html", context)


def _proof(found: Entry) -> dict[str, Any]:
    beside = Entry.objects.filter(chain=found.chain, seq__in=[found.seq - 1, found.seq + 1])
    near = {one.seq: one for one in beside}
    before, after = near.get(found.seq - 1), near.get(found.seq + 1)
    follows = found.seq == 1 if before is None else bytes(before.hash) == bytes(found.prev)
    followed = found.chain.seq == found.seq if after is None else bytes(after.prev) == bytes(found.hash)
    return {"before": before, "after": after, "follows": follows, "followed": followed, "anchor": _anchor(found)}


def _anchor(found: Entry) -> dict[str, Any] | None:
    """Up to which entry the chain was anchored, where that is this one or a later one, and by which anchor at last."""
    if (known := anchors.readable()) is None:
        return None
    seq, _ = known.heads.get(f"{found.workspace_id.hex}/ledger/{found.chain.name}", (0, ""))
    return {"seq": seq, "number": known.number, "at": known.at} if seq >= found.seq else None
