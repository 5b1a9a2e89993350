"""What a browser is told, and what a production process reads from its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from runtime.stack import BASE


def test_every_page_carries_the_headers_of_a_careful_site(db):
    """WB-2: no inline script or style, no frame, no guessing of types, no referrer for other sites."""
    headers = Client().get("/accounts/login/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in f"{policy};"
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_cookies_stay_with_the_site_and_out_of_scripts(db):
    """WB-1."""
    cookie = Client().get("/accounts/login/").cookies[settings.CSRF_COOKIE_NAME]
    assert (cookie["samesite"], cookie["httponly"]) == ("Lax", True)
    assert (settings.SESSION_COOKIE_SAMESITE, settings.SESSION_COOKIE_HTTPONLY) == ("Lax", True)


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/password/reset/", "/accounts/email/", "/admin/"])
def test_there_is_no_second_door(db, path):
    """Nobody signs up, and there is no Django admin."""
    assert Client().get(path).status_code == 404


def test_a_strange_host_is_refused(db):
    assert Client(headers={"host": "evil.example"}).get("/accounts/login/").status_code == 400


def read(*names: str, **variables: str) -> dict[str, object]:
    """Some settings as a process with these variables reads them."""
    code = (
        f"from runtime import settings\nimport json\nprint(json.dumps({{n: getattr(settings, n) for n in {names!r}}}))"
    )
    env = {**os.environ, "PLACET_ENV": "production", "PLACET_HOSTS": "placet.example", **variables}
    done = subprocess.run([sys.executable, "-c", code], cwd=BASE, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_production_keeps_cookies_on_https_and_hosts_named():
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "DEBUG", "ALLOWED_HOSTS")
    assert list(read(*names).values()) == [True, True, True, False, ["placet.example"]]


@pytest.mark.parametrize(
    ("kind", "user", "age"),
    [
        ("web", "placet", 0),
        ("runs", "placet", None),
        ("sweep", "placet_sweep", None),
        ("migrate", "placet_owner", None),
    ],
)
def test_each_kind_of_process_has_its_role_and_its_connections(kind, user, age):
    """A pool for web alone; elsewhere a connection lives on and is looked at before it is used."""
    database = read("DATABASES", PLACET_PROCESS=kind)["DATABASES"]["default"]  # type: ignore[index]
    assert (database["USER"], database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"]) == (user, age, True)
    assert ("pool" in database["OPTIONS"]) == (kind == "web")


def test_messages_are_json_and_hints():
    """SC-8, SC-7: nothing but JSON is accepted, no result is kept, and one message is taken at a time."""
    assert settings.CELERY_ACCEPT_CONTENT == ["json"]
    assert settings.CELERY_TASK_SERIALIZER == "json"
    assert settings.CELERY_TASK_IGNORE_RESULT is True
    assert settings.CELERY_TASK_ACKS_LATE is False
    assert settings.CELERY_WORKER_PREFETCH_MULTIPLIER == 1
