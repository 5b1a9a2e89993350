"""Who looks at an approval: told to members, forgotten within seconds, never in the database."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from approvals import looking, people
from approvals.approvals import Approval
from tests.cast import Cast, ask, refund

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]


@pytest.fixture
def asked(cast: Cast, broker: redis.Redis) -> Approval:
    return ask(cast, refund())


def names(cast: Cast) -> list[str]:
    return [one.first_name for people in looking.who(cast.northwind).values() for one in people]


def test_whoever_looks_is_known_until_they_go(cast: Cast, asked: Approval) -> None:
    looking.here(cast.dana, asked)
    looking.here(cast.dana, asked)
    assert names(cast) == ["Dana"]
    looking.gone(cast.dana, asked)
    assert names(cast) == []


def test_who_was_not_seen_again_no_longer_looks(
    cast: Cast, asked: Approval, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that was killed says no goodbye: what it said is over by itself, in the broker too."""
    looking.here(cast.dana, asked)
    later = time.time() + looking.LASTS + 1
    assert 0 < broker.ttl(looking._key(cast.northwind.pk)) <= looking.LASTS
    monkeypatch.setattr(time, "time", lambda: later)
    assert names(cast) == []


def test_news_of_it_name_the_approval_once(cast: Cast, asked: Approval, broker: Any) -> None:
    """A heartbeat is no news: only that somebody came, and that they went."""
    with broker.pubsub() as ear:
        ear.subscribe(f"placet:{cast.northwind.pk.hex}")
        assert ear.get_message(timeout=5)
        for _ in range(3):
            looking.here(cast.dana, asked)
        looking.gone(cast.dana, asked)
        heard = [ear.get_message(timeout=5), ear.get_message(timeout=5), ear.get_message(timeout=0.2)]
    assert [one and one["data"] for one in heard] == [b'{"id": "look_%s"}' % asked.pk.hex.encode()] * 2 + [None]


def test_somebody_who_left_the_workspace_is_not_named(cast: Cast, asked: Approval) -> None:
    looking.here(cast.dana, asked)
    people.leave(cast.dana, cast.northwind, by="system")
    assert names(cast) == [] and looking.who(cast.halden) == {}


def test_without_the_broker_nobody_is_known_to_look(cast: Cast, asked: Approval, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    looking.here(cast.dana, asked)
    looking.gone(cast.dana, asked)
    assert looking.who(cast.northwind) == {}
