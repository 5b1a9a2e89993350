"""Looking: who has which approval open just now, so that two people need not read the same one.

It is told to members of the workspace alone, is forgotten within seconds, and stands in the broker, never in the
database. Where the broker is away, nobody is known to look, and nothing else changes.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any, Final
from uuid import UUID

import redis
from django.conf import settings

from approvals import rows
from approvals.approvals import Approval
from approvals.people import Person, Workspace

log = logging.getLogger(__name__)

LASTS: Final = 40
"""Seconds after which somebody who was not seen again no longer looks."""
PREFIX: Final = "look"
"""What the id of the news begins with that somebody came or went: the approval's own digits follow."""


@cache
def _broker(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


# Verbs


def here(person: Person, approval: Approval) -> None:
    """Say that the person looks at the approval, for LASTS seconds. Said again before they are over, it lasts."""
    key, member = _key(approval.workspace_id), _member(person, approval)
    try:
        now = time.time()
        with _broker(settings.REDIS_URL).pipeline() as told:
            told.zremrangebyscore(key, 0, now)
            told.zadd(key, {member: now + LASTS})
            told.expire(key, LASTS)
            _, came, _ = told.execute()
        if came:
            _tell(approval)
    except redis.RedisError as fault:
        log.info("Who looks cannot be told: %s", fault)


def gone(person: Person, approval: Approval) -> None:
    """Say that the person looks no longer."""
    try:
        if _broker(settings.REDIS_URL).zrem(_key(approval.workspace_id), _member(person, approval)):
            _tell(approval)
    except redis.RedisError as fault:
        log.info("Who looks cannot be told: %s", fault)


def _tell(approval: Approval) -> None:
    news = json.dumps({"id": f"{PREFIX}_{approval.pk.hex}"})
    _broker(settings.REDIS_URL).publish(f"placet:{approval.workspace_id.hex}", news)


# Questions


def who(workspace: Workspace, approvals: Iterable[UUID] | None = None) -> dict[UUID, list[Person]]:
    """The members who look at approvals of the workspace, or at these of them, by approval. Nobody where the broker
    cannot be asked."""
    wanted = None if approvals is None else set(approvals)
    try:
        members: Any = _broker(settings.REDIS_URL).zrangebyscore(_key(workspace.pk), time.time(), "+inf")
    except redis.RedisError as fault:
        log.info("Who looks cannot be asked: %s", fault)
        return {}
    pairs = [(UUID(hex=one), UUID(hex=other)) for one, other in (each.decode().split(":") for each in members)]
    pairs = [pair for pair in pairs if wanted is None or pair[0] in wanted]
    members_of = Person.objects.filter(memberships__workspace=workspace, is_active=True)
    with rows.reading(workspace):
        known = members_of.in_bulk({person for _, person in pairs}) if pairs else {}
    found = defaultdict[UUID, list[Person]](list)
    for approval, person in pairs:
        if person in known:
            found[approval].append(known[person])
    return found


def _key(workspace_id: UUID) -> str:
    return f"placet-looks:{workspace_id.hex}"


def _member(person: Person, approval: Approval) -> str:
    return f"{approval.pk.hex}:{person.pk.hex}"
