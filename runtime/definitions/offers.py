"""Taking tools in: definitions are checked first, with nothing written, and then all of them are written or none."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from approvals import gate, rows
from approvals.ledger import canonical, entries, keys, sealing
from runtime import outgoing, promises, tools
from runtime.definitions.toolbox import Tool, secret_place, signed, signing_secret, titled

SECRET_BYTES = 32


@dataclass(frozen=True)
class Offer:
    """A tool that a workspace is offered: its definition, admitted, with ours beside it, and how it is reached."""

    definition: dict[str, Any]
    warnings: tuple[dict[str, str], ...]
    kind: str
    config: dict[str, Any]
    effect: str
    secret: bytes | None = None
    order: dict[str, list[str]] = field(default_factory=dict)


def offer(
    definition: Mapping[str, Any],
    *,
    kind: str,
    config: dict[str, Any],
    effect: str,
    summary: str = "",
    risk: str | None = None,
    secret: bytes | None = None,
) -> Offer:
    """Check a definition without writing anything. Raises gate.Inadmissible with the pointer, ValueError for the rest.

    What ``definition`` says under ``placet`` about time-outs, retries, keys and lookups is kept (`runtime.promises`);
    everything else there is said by the arguments.
    """
    if effect not in tools.EFFECTS:
        raise ValueError(f"{effect} is no effect class; it is one of {', '.join(tools.EFFECTS)}.")
    if kind == Tool.Kind.HTTP and config:
        outgoing.check_url(config["url"])
    given = definition.get("placet")
    ours = {
        **promises.admit(given if isinstance(given, dict) else {}, effect),
        "kind": kind,
        "effect": effect,
        "summary": summary,
        "risk": risk,
        "reached": config,
    }
    ours = {name: value for name, value in ours.items() if value not in ("", None)}
    admission = gate.admit({name: value for name, value in definition.items() if name != "placet"})
    warnings = tuple({"pointer": warning.pointer, "text": warning.text} for warning in admission.warnings)
    order = gate.order_of(definition.get("inputSchema"))
    return Offer({**admission.definition, "placet": ours}, warnings, kind, config, effect, secret, order)


def register_tool(
    workspace_id: UUID,
    definition: Mapping[str, Any],
    *,
    kind: str,
    config: dict[str, Any],
    effect: str,
    summary: str = "",
    risk: str | None = None,
    secret: bytes | None = None,
    by: str,
) -> Tool:
    """Admit a tool, or a new version of it. The same definition again changes nothing. Raises as `offer` does.

    ``config`` is ``{"function": dotted path}``, ``{"url": …}``, or nothing for an endpoint that is not there yet.
    ``secret`` signs what is sent to an endpoint; without one the last version's is kept, or a new one is made.
    """
    checked = offer(definition, kind=kind, config=config, effect=effect, summary=summary, risk=risk, secret=secret)
    return register_offers(workspace_id, [checked], by=by)[0]


def register_function(workspace_id: UUID, function: tools.Function, *, by: str) -> Tool:
    """Admit a function that the decorator `tools.tool` registered. Raises LookupError, or as `offer` does."""
    known = tools.described(function)
    return register_tool(
        workspace_id,
        known.definition,
        kind=Tool.Kind.FUNCTION.value,
        config={"function": known.path},
        effect=known.effect,
        summary=known.summary,
        risk=known.risk,
        by=by,
    )


def register_offers(workspace_id: UUID, offers: list[Offer], *, by: str) -> list[Tool]:
    """Write all of them or, if one cannot be written, none. Raises gate.NeedsApproval where people have to approve
    one."""
    with rows.within(workspace_id), transaction.atomic():
        return [_register(workspace_id, each, by) for each in offers]


def described(offered: Offer) -> dict[str, Any]:
    """A tool as people approve it. How its author ordered the arguments is shown, and decides nothing."""
    return {"tool": offered.definition["name"], "definition": offered.definition, "order": offered.order}


def of_tool(workspace_id: UUID, offered: Offer) -> gate.Change:
    """A tool in the place of the one of its name, if there is one. Raises ValueError for one that brings a secret."""
    name = offered.definition["name"]
    if offered.secret is not None:
        raise ValueError(f"{name}: a secret cannot stand in what people read and approve.")
    active = Tool.objects.filter(workspace_id=workspace_id, name=name, is_active=True).first()
    before = {"tool": name, "definition": active.document, "order": active.order} if active else None
    return gate.Change("tool", name, f"Tool {name}"[:200], described(offered), before)


def put_in_force(workspace_id: UUID, offered: Offer, *, by: str) -> Tool:
    """Write a tool that people approved; inside an open `rows.within`."""
    return _register(workspace_id, offered, by, asks=False)


def _register(workspace_id: UUID, offered: Offer, by: str, *, asks: bool = True) -> Tool:
    name, document = offered.definition["name"], canonical.encode(offered.definition)
    digest = canonical.sha256_hex(document)
    versions = Tool.objects.select_for_update().filter(workspace_id=workspace_id, name=name)
    last = versions.order_by("-version").first()
    if last and last.is_active and last.digest == digest and last.holds() and _same_secret(last, offered):
        versions.filter(pk=last.pk).exclude(order=offered.order).update(order=offered.order)
        return last
    if asks and (asked := gate.changing(workspace_id, "tool", described(offered))):
        raise gate.NeedsApproval("tool", asked)
    versions.filter(is_active=True).update(is_active=False)
    tool = Tool(
        workspace_id=workspace_id, name=name, title=titled(offered.definition), kind=offered.kind, effect=offered.effect
    )
    tool.version = last.version + 1 if last else 1
    tool.definition, tool.digest = document, digest
    tool.config, tool.warnings, tool.order = offered.config, list(offered.warnings), offered.order
    tool.secret = sealing.seal(workspace_id, _secret(last, offered), place=secret_place(tool.pk))
    tool.mac = keys.sign("tool", signed(tool))
    tool.save(force_insert=True)
    body = {"tool": tool.public_id, "name": name, "version": tool.version, "digest": tool.digest}
    entries.append(workspace_id, "workspace", "tool.registered", body, by=by)
    return tool


def _same_secret(tool: Tool, offered: Offer) -> bool:
    return offered.secret is None or signing_secret(tool) == offered.secret


def _secret(last: Tool | None, offered: Offer) -> bytes:
    return offered.secret or (signing_secret(last) if last else secrets.token_bytes(SECRET_BYTES))
