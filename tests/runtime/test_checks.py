"""What is checked at start: a wrong set-up is a sentence, and a production that is set up well is clean."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.checks import Tags, run_checks
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from runtime import checks
from runtime.embedded import ROLES
from runtime.stack import BASE
from tests import databases
from tests.throwaway import SERVERS


def found(**kwargs: Any) -> set[str]:
    return {name for message in run_checks(**kwargs) if (name := str(message.id)).startswith("runtime.")}


def with_database() -> set[str]:
    return found(tags=[Tags.database], databases=["default"])


def test_the_application_role_is_safe(committed_db):
    assert with_database() == set()


def test_the_owner_of_the_tables_is_no_application(committed_db):
    with databases.pointed(USER=ROLES["owner"], PASSWORD=SERVERS.memory["owner"]):
        said = [message.msg for message in checks.database_is_safe(None, databases=["default"])]
    assert any("owns tables" in sentence for sentence in said)
    assert any("no lock_timeout" in sentence for sentence in said)


@pytest.mark.parametrize(("power", "word"), [("SUPERUSER", "superuser"), ("BYPASSRLS", "BYPASSRLS")])
def test_a_role_above_row_level_security_is_refused(committed_db, power, word):
    with SERVERS.postgres.connect() as admin:
        admin.execute(f"ALTER ROLE placet {power}")
        try:
            said = [message.msg for message in checks.database_is_safe(None, databases=["default"])]
        finally:
            admin.execute(f"ALTER ROLE placet NO{power}")
    assert any(word in sentence for sentence in said)


def test_a_member_of_the_owner_is_refused(committed_db):
    with SERVERS.postgres.connect() as admin:
        admin.execute("GRANT placet_owner TO placet")
        try:
            assert with_database() == {"runtime.E007"}
        finally:
            admin.execute("REVOKE placet_owner FROM placet")


def test_keys_that_do_not_fit_the_data_are_refused(committed_db):
    assert with_database() == set()
    with override_settings(PLACET_KEYS={1: os.urandom(32)}):
        assert with_database() == {"runtime.E008"}


def test_a_database_without_tables_is_a_sentence_with_what_to_do(committed_db):
    with databases.pointed(NAME="postgres"):
        messages = checks.database_is_safe(None, databases=["default"])
    assert [message.id for message in messages] == ["runtime.E006"]
    assert "migrate" in str(messages[0].hint)


@pytest.mark.parametrize("name", ["runtime.calls.resolve", "nowhere.at.all", "runtime.calls"])
def test_a_seam_that_leads_nowhere_is_refused(name):
    with override_settings(PLACET_RESOLVED=name):
        assert "runtime.E001" in found()


def test_one_role_for_everything_is_refused():
    with override_settings(PLACET_ROLES={"application": "placet", "sweep": "placet"}):
        assert found() == {"runtime.E002"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"PLACET_ENV": "demo"}, "runtime.E003"),
        ({"ALLOWED_HOSTS": ["*"]}, "runtime.E004"),
        ({"PLACET_KEYS": {1: bytes(32)}}, "runtime.E005"),
        ({"PLACET_KEYS": {1: b"placet" * 6}}, "runtime.E005"),
    ],
)
def test_a_careless_production_is_refused(change, fault):
    with override_settings(PLACET_ENV="production"), override_settings(**change):
        assert found(include_deployment_checks=True) == {fault}


def test_a_careful_production_is_clean():
    """Django's own deployment checks included, with the settings a production process really reads."""
    env = {**os.environ, "PLACET_ENV": "production", "PLACET_HOSTS": "placet.example"}
    env.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # set where a browser test came first
    argv = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(argv, cwd=BASE, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_printed_roles_can_be_run_on_another_server(committed_db, capsys):
    """`manage.py roles` prints what the embedded servers run; running it again changes nothing."""
    call_command("roles")
    printed = capsys.readouterr().out
    with SERVERS.postgres.connect() as admin:
        admin.execute(printed.encode())
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("2s",)
