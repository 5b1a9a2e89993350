"""Watchers and /metrics: a workspace's figures for a program of its own, and for nobody else."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import rows, watchers
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.people import Workspace
from approvals.watchers import Watcher
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")

X = "x" * 43
SAMPLE = re.compile(r'placet_[a-z_]+(\{[a-z]+="(?:[^"\\]|\\.)*"\})? [0-9.e+-]+')


def secret_of(workspace: Workspace) -> str:
    return watchers.create(workspace, by="system")[1]


def read(client: Client, secret: str, **more: Any) -> Any:
    return client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}, **more)


def figures(client: Client, secret: str) -> dict[str, float]:
    lines = [line for line in read(client, secret).content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_what_waits_and_how_is_decided_can_be_watched(cast: Cast, client: Client) -> None:
    """RL-12: the oldest that waits, decisions of each approver in an hour, the median time, the share of yes."""
    say(ask(cast, refund()), cast.dana, "approve")
    say(ask(cast, refund()), cast.priya, "reject", message="No.")
    ask(cast, refund())
    found = figures(client, secret_of(cast.northwind))
    assert found["placet_approvals_waiting"] == 1 and 0 < found["placet_oldest_waiting_seconds"] < 600
    assert found[f'placet_decisions_hour{{approver="{cast.dana.public_id}"}}'] == 1
    assert found["placet_approve_ratio_day"] == 0.5
    assert found['placet_rejections_day{channel="web"}'] == 1
    assert found['placet_approvals_repeated_day{tool="payments.create_refund"}'] == 0
    assert found[f'placet_decision_seconds_median_day{{approver="{cast.dana.public_id}"}}'] >= 0


def test_the_text_is_what_prometheus_reads(cast: Cast, client: Client) -> None:
    """RL-12."""
    say(ask(cast, refund()), cast.dana, "approve")
    answer = read(client, secret_of(cast.northwind))
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    told = answer.content.decode()
    assert told.endswith("\n")
    samples = [line for line in told.splitlines() if not line.startswith("#")]
    assert samples and all(SAMPLE.fullmatch(line) for line in samples)
    typed = re.findall(r"^# TYPE (\w+) gauge$", told, re.MULTILINE)
    assert len(typed) == len(set(typed)) and {line.split("{")[0].split()[0] for line in samples} <= set(typed)


def test_an_empty_workspace_has_figures_too(cast: Cast, client: Client) -> None:
    found = figures(client, secret_of(cast.halden))
    assert found == {"placet_approvals_waiting": 0, "placet_oldest_waiting_seconds": 0}


def test_a_secret_opens_the_figures_of_its_own_workspace_alone(cast: Cast, client: Client) -> None:
    """AP-I5: nothing of Northwind is told to Halden's watcher: no count, no tool, nobody's id."""
    say(ask(cast, refund()), cast.dana, "approve")
    ask(cast, refund())
    told = read(client, secret_of(cast.halden)).content.decode()
    assert "placet_approvals_waiting 0" in told
    assert "payments" not in told and "per_" not in told and "northwind" not in told.lower()


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer plw_", f"Bearer plw_{X}", "Basic cGx3Xw==", f"Bearer plw_{X * 99}"],
    ids=["none", "nothing", "no secret", "unknown", "another scheme", "endless"],
)
def test_nobody_else_is_told_anything(cast: Cast, client: Client, header: str) -> None:
    client.force_login(cast.omar)
    answer = client.get("/metrics", headers={"Authorization": header} if header else {})
    assert (answer.status_code, answer.headers.get("WWW-Authenticate")) == (401, "Bearer")
    assert answer.content == b"A watcher's secret is needed.\n"


def test_an_agents_credential_opens_no_figures(cast: Cast, client: Client) -> None:
    answer = read(client, f"plk_{X}")
    assert answer.status_code == 403 and b"placet_" not in answer.content


def test_a_revoked_watcher_sees_nothing_any_more(cast: Cast, client: Client) -> None:
    watcher, secret = watchers.create(cast.northwind, by="system")
    assert watchers.revoke(watcher, by="system") and not watchers.revoke(watcher, by="system")
    assert read(client, secret).status_code == 401


def test_a_watcher_that_was_written_past_placet_sees_nothing(cast: Cast, client: Client) -> None:
    watchers.create(cast.northwind, by="system")
    secret = watchers.HEAD + "m" * 43
    Watcher.objects.update(secret_hash=canonical.sha256_hex(secret.encode()))
    assert read(client, secret).status_code == 401


def test_a_watcher_that_was_revoked_and_put_back_sees_nothing(cast: Cast, client: Client) -> None:
    """The whole row as it was, code included; the ledger says that it ended."""
    made, secret = watchers.create(cast.northwind, by="system")
    with rows.within(cast.northwind):
        kept = Watcher.objects.filter(pk=made.pk).values("mac", "revoked_at").get()
        assert list(watchers.unproven(cast.northwind.pk)) == []
    watchers.revoke(made, by="system")
    with rows.within(cast.northwind):
        Watcher.objects.filter(pk=made.pk).update(**kept)
        assert "by the ledger otherwise" in next(watchers.unproven(cast.northwind.pk))
    assert read(client, secret).status_code == 401


def test_a_watchers_secret_is_nothing_but_for_figures(cast: Cast, client: Client) -> None:
    secret = secret_of(cast.northwind)
    answer = client.get("/api/v1/runs", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 401


def test_figures_cost_as_many_statements_however_much_there_is(cast: Cast, client: Client) -> None:
    secret = secret_of(cast.northwind)
    with CaptureQueriesContext(connection) as empty:
        read(client, secret)
    for _ in range(3):
        say(ask(cast, refund()), cast.dana, "approve")
    with CaptureQueriesContext(connection) as full:
        read(client, secret)
    assert len(full) == len(empty)


def test_figures_are_only_read(cast: Cast, client: Client) -> None:
    secret = secret_of(cast.northwind)
    assert client.post("/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code in {403, 405}


def test_a_name_cannot_break_out_of_its_label(cast: Cast, client: Client) -> None:
    approval = ask(cast, refund())
    Approval.objects.filter(pk=approval.pk).update(tool='a"} 1\nb\\', status="expired", decided_at=rows.now())
    told = read(client, secret_of(cast.northwind)).content.decode()
    assert 'placet_approvals_expired_day{tool="a\\"} 1\\nb\\\\"} 1' in told


def told(*words: str) -> str:
    out = StringIO()
    call_command("watchers", *words, "--workspace", "northwind", stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_watchers_are_made_listed_and_ended_by_an_operator(cast: Cast, client: Client) -> None:
    secret = told("create", "--label", "prometheus")
    assert read(client, secret).status_code == 200
    watcher = Watcher.objects.get()
    assert told("list") == f"{watcher.public_id}  {secret[:8]}…  in use  prometheus"
    assert told("revoke", watcher.public_id) == "Revoked."
    assert "revoked" in told("list") and secret not in told("list")
