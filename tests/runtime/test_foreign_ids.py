"""A stranger tries every address, task and command with what belongs to another workspace, as if it had never been.

What there is to try is asked of the code: a new route, task or command is tried without being listed here, and one with
an argument that nobody explained below fails.
"""

from __future__ import annotations

import re
import time
from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from itertools import product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from approvals import (
    absences,
    assurance,
    granting,
    identities,
    invitations,
    people,
    policies,
    policy_drafts,
    rows,
    saved_filters,
    verifications,
    watchers,
)
from approvals.approvals import Approval
from approvals.deputies import Absence
from approvals.grants import Grant
from approvals.invitations import Invitation
from approvals.ledger.entries import Entry
from approvals.providers import Claims
from approvals.rows import isolation
from approvals.saved_filters import SavedFilter
from approvals.verifications import Verification
from runtime import credentials, definitions, tasks
from runtime.api import root
from runtime.calls import Call
from runtime.celery import app
from runtime.credentials import AgentCredential
from runtime.definitions import Tool
from runtime.runs import Run
from tests.runtime.conftest import POLICY, Desk, call
from tests.throwaway import SERVERS

PREFIXES = {
    "approval_id": "apr",
    "run_id": "run",
    "call_id": "call",
    "thread_id": "thr",
    "credential": "crd",
    "identity": "idn",
    "grant": "grt",
    "absence": "abs",
    "watcher": "wat",
    "invitation": "inv",
    "entry_id": "ent",
    "agent_id": "agt",
    "person_id": "per",
    "team_id": "tem",
    "tool_id": "tol",
    "draft_id": "pdr",
    "verification": "ver",
    "filter_id": "flt",
}
PLAIN = {"number": 1, "rest": "nothing", "short": "nowhere"}
"""Arguments of routes that name no row by themselves."""


@dataclass
class Stranger:
    """Oskar, who has every right in Halden, and an agent of his. Northwind has a run that waits for people."""

    desk: Desk
    foreign: dict[str, Any]
    page: Client
    session: dict[str, str]
    agent: dict[str, str]
    database: str

    @property
    def unknown(self) -> dict[str, Any]:
        """Ids of the same kinds, which never were."""
        fresh = {name: rows.public_id(prefix, rows.uuid7()) for name, prefix in PREFIXES.items()}
        return PLAIN | fresh | {"slug": "no-such", "pk": 2_000_000_000}

    def northwind(self) -> dict[str, str]:
        """All that Northwind has, as digests."""
        with SERVERS.postgres.connect(self.database) as admin:
            digest = "SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {} t WHERE {} = %s"
            of = [self.desk.cast.northwind.pk]
            return {
                table: str(admin.execute(digest.format(table, column).encode(), of).fetchone())
                for table, column in isolation.tables().items()
            }


def standing_grant(desk: Desk, seen: Approval) -> Grant:
    """A grant that Northwind's people are asked for."""
    standing = POLICY.replace("deadline: 1h", "deadline: 1h\n    standing: {for: 1h, uses: 1}")
    policies.load(desk.cast.northwind, standing, by="system")
    assert isinstance(granting.ask(desk.cast.northwind.pk, seen, granting.Wish(), by=desk.cast.dana), Approval)
    return Grant.objects.get()


@pytest.fixture
def stranger(desk: Desk, committed_db: str) -> Iterator[Stranger]:
    run = desk.begin([call("asked.keyed")])
    asked = Approval.objects.get()
    credential, _ = credentials.create(desk.agent, by="system")
    foreign = {"approval_id": asked.public_id, "run_id": run.public_id, "call_id": Call.objects.get().public_id}
    foreign |= {"thread_id": run.thread.public_id, "credential": credential.public_id, "slug": "northwind"}
    foreign["grant"] = standing_grant(desk, asked).public_id
    cast, page = desk.cast, Client(enforce_csrf_checks=False)
    foreign["watcher"] = watchers.create(cast.northwind, by="system")[0].public_id
    foreign["pk"] = Authenticator.objects.create(user=cast.dana, type="webauthn", data={"name": "Key"}).pk
    invitations.invite(cast.northwind, "new@northwind.example", by=None)
    identities.link(cast.dana, Claims("https://id.example", "dana"))
    away = absences.announce(
        cast.northwind, cast.dana, kind="out_of_office", ends_at=rows.now() + timedelta(days=1), by=None
    )
    assert isinstance(away, Absence)
    foreign["absence"] = away.public_id
    draft = policy_drafts.begin(cast.northwind, by=cast.omar)
    assert isinstance(draft, policy_drafts.Draft)
    foreign["draft_id"] = draft.public_id
    foreign["invitation"] = Invitation.objects.get().public_id
    people.grant(cast.omar, "audit", cast.northwind, by="system")
    begun = verifications.begin(cast.northwind, by=cast.omar)
    assert isinstance(begun, Verification)
    foreign["verification"] = begun.public_id
    kept = saved_filters.save(cast.northwind, cast.dana, "ledger", "Mine", {"tool": "x"})
    assert isinstance(kept, SavedFilter)
    foreign["filter_id"] = kept.public_id
    foreign["entry_id"] = Entry.objects.filter(workspace=cast.northwind, kind="approval.opened").latest("at").public_id
    foreign["person_id"], foreign["team_id"] = cast.dana.public_id, cast.finance.public_id
    foreign["agent_id"] = desk.agent.public_id
    foreign["tool_id"] = Tool.objects.filter(workspace=cast.northwind).latest("created_at").public_id
    foreign["identity"] = identities.of_person(cast.dana)[0].public_id
    for right in ("administer", "audit"):
        people.grant(cast.oskar, right, cast.halden, by="system")
    own = definitions.register_agent(cast.halden.pk, "clerk", "scripted", {}, by="system")
    people.grant(cast.oskar, "operate", own, by="system")
    _, secret = credentials.create(own, by="system")
    page.force_login(cast.oskar)
    confirmed = page.session
    confirmed[assurance.RECORDS] = [{"method": "password", "at": time.time()}]
    confirmed[assurance.OWNER] = str(cast.oskar.pk)
    confirmed.save()
    page.cookies["csrftoken"] = "t" * 32
    known = Stranger(
        desk, PLAIN | foreign, page, {"X-CSRFToken": "t" * 32}, {"Authorization": f"Bearer {secret}"}, committed_db
    )
    before = known.northwind()
    yield known
    assert known.northwind() == before


def patterns(resolver: URLResolver, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """The name of every route, with its namespaces, and what its address holds."""
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            inner = {*each.pattern.converters}
            assert not inner, "a part of an address that several routes share"
            yield from patterns(each, (*path, *([each.namespace] if each.namespace else [])))
        elif isinstance(each, URLPattern):
            named = {*each.pattern.converters, *getattr(each.pattern, "regex", re.compile("")).groupindex}
            yield ":".join((*path, each.name or "")), named


ROUTES = dict(patterns(get_resolver()))


def same(answers: list[Any], *, ids: list[dict[str, Any]]) -> int:
    """The status of answers that differ in nothing but the ids that were asked for."""
    told = []
    for answer, asked in zip(answers, ids, strict=True):
        text = answer.content.decode()
        for name in sorted(asked, key=lambda name: -len(str(asked[name]))):
            if name not in PLAIN and isinstance(asked[name], str):
                text = text.replace(str(asked[name]), name)
        told.append((answer.status_code, re.sub(r'\d\d:\d\d:\d\d[^"<]*|value="\w{64}"', "", text)))
    assert told[0] == told[1]
    status: int = told[0][0]
    return status


PAGES = sorted(name for name, takes in ROUTES.items() if takes - {"rest"} and not name.startswith("api-"))


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_another_workspace_never_was(name: str, method: str, stranger: Stranger) -> None:
    """AP-I5, AP-I6, CH-B114, WB-4: in the stranger's own workspace, and in the foreign one; same status, same body."""
    takes = ROUTES[name]
    assert takes <= stranger.foreign.keys(), f"say in PREFIXES or PLAIN what {name} takes"
    for slug in [None, "halden"] if takes - {"slug"} else [None]:
        ids = [each | ({"slug": slug} if slug else {}) for each in (stranger.foreign, stranger.unknown)]
        asked = [{key: each[key] for key in takes} for each in ids]
        answers = [getattr(stranger.page, method)(reverse(name, kwargs=each)) for each in asked]
        assert same(answers, ids=ids) in {404, 405}


SCHEMA = root.api.get_openapi_schema()
OPERATIONS = [(path, method) for path, methods in SCHEMA["paths"].items() for method in methods]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_an_endpoint_tells_nothing_of_another_workspace(path: str, method: str, stranger: Stranger) -> None:
    """AP-I5, AP-I6, CH-B114, WB-4, AZ-13: as a person and as an agent, in the address, the query and the body."""
    operation = SCHEMA["paths"][path][method]
    places = {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"}
    queried = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"} & PREFIXES.keys()
    assert places <= stranger.foreign.keys(), f"say in PREFIXES or PLAIN what {path} takes"
    statuses = set()
    for headers, slug in product((stranger.session, stranger.agent), ("", "halden")):
        ids = [each | ({"slug": slug} if slug else {}) for each in (stranger.foreign, stranger.unknown)]
        answers = [_sent(stranger, path, method, operation, headers, each, queried) for each in ids]
        statuses.add(same(answers, ids=ids))
    named = places & {*PREFIXES, "slug"} or _body(operation, stranger.foreign).keys() & PREFIXES.keys()
    assert not named or 404 in statuses
    assert 500 not in statuses


def _sent(
    stranger: Stranger,
    path: str,
    method: str,
    operation: dict[str, Any],
    headers: dict[str, str],
    ids: dict[str, Any],
    queried: set[str],
) -> Any:
    address = path.format(**ids) + ("?" + "&".join(f"{name}={ids[name]}" for name in queried) if queried else "")
    body = _body(operation, ids)
    more = {"data": body, "content_type": "application/json"} if method != "get" else {}
    return getattr(stranger.page, method)(address, headers=headers, **more)


def _body(operation: dict[str, Any], ids: dict[str, Any]) -> dict[str, Any]:
    """The least that the endpoint takes, with every id that it knows a name for."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    schema = SCHEMA["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    told = {name: ids[name] for name in schema.get("properties", {}) if name in PREFIXES}
    return {name: _least(schema["properties"][name]) for name in schema.get("required", [])} | told


def _least(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "object": {}, "array": [], "boolean": False}.get(schema.get("type", ""), "x")


def test_every_endpoint_with_an_argument_is_in_the_description() -> None:
    known = {SCHEMA["paths"][path][method]["operationId"] for path, method in OPERATIONS}
    assert {name.rpartition(":")[2] for name, takes in ROUTES.items() if name.startswith("api-") and takes} <= known


# Tasks

TASKS = {
    tasks.advance_run.name: ["run_id", "workspace"],
    tasks.verify_ledger.name: ["verification", "workspace"],
    tasks.preview_call.name: ["approval_id", "workspace"],
}
"""What each task takes."""


@pytest.mark.parametrize("name", sorted(name for name in app.tasks if not name.startswith("celery.")))
def test_a_task_with_a_foreign_id_does_nothing(name: str, stranger: Stranger) -> None:
    """AP-I5: a run is worked on in its own workspace or not at all; one that never was ends nobody's task."""
    Run.objects.update(status="ready")
    before = stranger.northwind()
    for ids in (stranger.foreign, stranger.unknown):
        values = {name: rows.parse_id(prefix, ids[name]) for name, prefix in PREFIXES.items()}
        values["workspace"] = stranger.desk.cast.halden.pk
        with rows.nowhere():
            app.tasks[name](*[value.hex for argument in TASKS[name] if (value := values[argument])])
    assert stranger.northwind() == before
    Run.objects.update(status="suspended_approval")


# Commands

FOREIGN = {"run": "run_id", "credential": "credential", "approval": "approval_id"}
FOREIGN |= {"grant": "grant", "absence": "absence", "watcher": "watcher"}
"""Arguments of commands that name a row by its id."""
NAMED = {"agent": "scripted", "called": "free.pure", "thing": "team:finance", "chain": "run_id"}
"""Arguments that name a row of one workspace by a name."""
ABOUT_NO_ROW = {
    "after",
    "amount",
    "before",
    "budget",
    "by",
    "cases",
    "clear",
    "day",
    "days",
    "deputy",
    "effect",
    "email",
    "file",
    "finding",
    "help",
    "here",
    "json",
    "keep",
    "label",
    "lasts",
    "lines",
    "note",
    "number",
    "once",
    "overlap",
    "password",
    "passwords",
    "pattern",
    "per_minute",
    "person",
    "reason",
    "rehearsal",
    "right",
    "roles",
    "set_passwords",
    "show",
    "start",
    "state",
    "sum",
    "team",
    "title",
    "tool",
    "until",
    "url",
    "uses",
    "verb",
    "without_run",
    "word",
    "workspace",
    "zone",
    "force_color",
    "no_color",
    "pythonpath",
    "settings",
    "skip_checks",
    "traceback",
    "verbosity",
    "version",
}
FILL = {"email": "oskar@halden.example", "right": "decide", "finding": "right"}


def leaves(parser: ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ArgumentParser]]:
    """Every command that can be given, down to its last verb."""
    deeper = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    if not deeper:
        yield words, parser
    for action in deeper:
        for word, below in action.choices.items():
            yield from leaves(below, (*words, word))


def _names_a_row(action: Action) -> bool:
    """An option may also hold a name that is not looked up, or made where there is none: `--agent`."""
    return action.dest in FOREIGN or action.dest == "chain" or (action.dest in NAMED and not action.option_strings)


COMMANDS = {
    words: {action.dest: action for action in parser._actions}
    for name, home in get_commands().items()
    if home in {"approvals", "runtime"}
    for words, parser in leaves(load_command_class(home, name).create_parser("manage.py", name), (name,))
}
NAMING = sorted(words for words, takes in COMMANDS.items() if any(map(_names_a_row, takes.values())))


def test_every_argument_of_a_command_is_explained() -> None:
    for words, takes in COMMANDS.items():
        unknown = takes.keys() - FOREIGN.keys() - NAMED.keys() - ABOUT_NO_ROW
        assert not unknown, f"say here what {words} takes: {unknown}"


@pytest.mark.parametrize("words", NAMING)
def test_a_command_in_one_workspace_finds_no_row_of_another(words: tuple[str, ...], stranger: Stranger) -> None:
    """AP-I5, AP-I6: it says that there is none, as of one that never was."""
    takes = COMMANDS[words]
    told = [_refusal(words, takes, ids, ("--workspace", "halden")) for ids in (stranger.foreign, stranger.unknown)]
    assert told[0] == told[1] and re.search(r"\bno\b", told[0])
    if words[0] == "run" and "person" in takes:
        for ids in (stranger.foreign, stranger.unknown):
            assert _refusal(words, takes, ids, ("--as", "oskar@halden.example")) == "There is no run RUN."


def _refusal(words: tuple[str, ...], takes: dict[str, Any], ids: dict[str, Any], more: tuple[str, ...]) -> str:
    values = {name: ids[key] for name, key in FOREIGN.items()} | NAMED | FILL | {"chain": ids["run_id"]}
    given: list[str] = []
    for name, action in takes.items():
        if name in values and not action.option_strings:
            given.append(values[name])
        elif name == "chain":
            given += ["--chain", values[name]]
    with pytest.raises(CommandError) as refused:
        call_command(words[0], *words[1:], *given, *more, stdout=StringIO(), stderr=StringIO())
    return (
        str(refused.value)
        .replace(str(ids["run_id"]), "RUN")
        .replace(str(ids["credential"]), "CREDENTIAL")
        .replace(str(ids["absence"]), "ABSENCE")
    )


def test_a_credential_list_is_of_one_workspace(stranger: Stranger) -> None:
    told = StringIO()
    call_command("credentials", "list", "--workspace", "halden", stdout=told)
    assert len(told.getvalue().splitlines()) == 1
    assert AgentCredential.objects.get().shown not in told.getvalue()
