"""Anchors: a signed file outside the database shows what no chain can show of itself."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings

from approvals import rows
from approvals.ledger import anchors, canonical, entries, keys
from approvals.people import Workspace
from tests.standing import founded
from tests.throwaway import SERVERS

pytestmark = pytest.mark.committed

RUN, OTHER = "run_" + "a" * 32, "run_" + "b" * 32


@pytest.fixture
def northwind() -> Workspace:
    """A workspace with two chains of three entries, anchored."""
    northwind = founded("northwind", "Northwind refunds")
    for chain in (RUN, OTHER):
        for number in range(3):
            add(northwind, chain, number)
    assert anchors.anchor() == 1
    return northwind


def add(workspace: Workspace, chain: str = RUN, number: int = 0) -> None:
    with rows.within(workspace):
        entries.append(workspace.pk, chain, "call.proposed", {"number": number}, by="agt_1")


@pytest.fixture
def change(committed_db: str) -> Callable[..., None]:
    """Run statements as somebody with every power over the database, and none over the file."""

    def run(*statements: str, of: Any = ()) -> None:
        with SERVERS.postgres.connect(committed_db) as admin:
            admin.execute(b"SET session_replication_role = replica")
            for statement in statements:
                admin.execute(statement.encode(), of)

    return run


def file() -> Path:
    path: Path = settings.PLACET_ANCHORS
    return path


def said(workspace: Workspace) -> list[str]:
    return list(anchors.differences(workspace.pk))


CUT = (
    "DELETE FROM approvals_entry WHERE seq > {kept}",
    "UPDATE approvals_chain c SET seq = {kept}, hash = e.hash, mac = e.mac"
    " FROM approvals_entry e WHERE e.chain_id = c.id AND e.seq = {kept}",
)


def cut(kept: int) -> list[str]:
    return [statement.format(kept=kept) for statement in CUT]


def test_what_went_on_as_it_should_differs_in_nothing(northwind: Workspace) -> None:
    add(northwind)
    assert said(northwind) == [] == anchors.doubts()
    assert anchors.anchor() == 2
    assert said(northwind) == [] == anchors.doubts()


def test_a_tail_cut_together_with_its_head_is_below_the_anchor(
    northwind: Workspace, change: Callable[..., None]
) -> None:
    """IN-A4, AU-5, CH-B152: one entry; the chain itself verifies."""
    change(*cut(2))
    assert f"ledger {RUN}: it was anchored at 3 and stands at 2: its tail was cut off." in said(northwind)


def test_a_chain_that_is_gone_shows(northwind: Workspace, change: Callable[..., None]) -> None:
    """IN-A4, AU-5, CH-B155: all entries, with their chain."""
    change("DELETE FROM approvals_entry WHERE chain_id IN (SELECT id FROM approvals_chain WHERE name = %s)", of=[RUN])
    change("DELETE FROM approvals_chain WHERE name = %s", of=[RUN])
    assert said(northwind) == [f"ledger {RUN}: it was anchored at 3 and is gone."]


def test_a_workspace_that_is_gone_shows(northwind: Workspace, change: Callable[..., None]) -> None:
    """AU-5: an older state of the whole database, put back."""
    change("DELETE FROM approvals_entry", "DELETE FROM approvals_chain")
    assert anchors.doubts() == [f"the chains of workspace {northwind.pk.hex} were anchored and are gone."]


@pytest.mark.parametrize("longer", [0, 2])
def test_a_chain_built_anew_with_the_right_key_shows(
    northwind: Workspace, change: Callable[..., None], longer: int
) -> None:
    """IN-A6: whoever stole the key can write a chain that verifies, and not the one that was anchored."""
    change("DELETE FROM approvals_entry", "DELETE FROM approvals_chain")
    for number in range(3 + longer):
        add(northwind, RUN, 7 + number)
        add(northwind, OTHER, 7 + number)
    texts = said(northwind)
    assert len(texts) == 2 and all("3" in text and "not the one that was anchored" in text for text in texts)


def test_what_was_cut_is_never_anchored_as_if_it_were_right(northwind: Workspace, change: Callable[..., None]) -> None:
    """AU-5: later anchors keep the place the chain had, also when it has grown past it again."""
    change(*cut(2))
    add(northwind)
    add(northwind)
    assert anchors.anchor() is None
    assert f"ledger {RUN}: its entry 3 is not the one that was anchored." in said(northwind)


def test_the_anchor_can_be_checked_by_somebody_with_the_file_and_a_public_key(northwind: Workspace) -> None:
    """CH-B155, AU-5: nothing of ours is used here but the number of the key."""
    add(northwind)
    anchors.anchor()
    heads: dict[str, tuple[int, str]] = {}
    previous = "0" * 64
    public = Ed25519PublicKey.from_public_bytes(anchors.public_key(1))
    for text in file().read_bytes().splitlines():
        line = json.loads(text)
        signatures = line.pop("signatures")
        signed = json.dumps(line, sort_keys=True, separators=(",", ":")).encode()
        public.verify(bytes.fromhex(signatures["1"]), signed)
        heads |= {key: (seq, mark) for key, seq, mark in line["heads"]}
        assert line["previous"] == previous and line["root"] == tree(heads) and line["count"] == len(heads)
        previous = sha256(text).hexdigest()
    assert {key.split("/")[2]: seq for key, (seq, _) in heads.items()} == {RUN: 4, OTHER: 3}


def tree(heads: dict[str, tuple[int, str]]) -> str:
    """RFC 6962's own words: part at the largest power of two below the size."""

    def root(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return sha256(b"\0" + leaves[0]).digest()
        half = 1 << (len(leaves) - 1).bit_length() - 1
        return sha256(b"\1" + root(leaves[:half]) + root(leaves[half:])).digest()

    return root([f"{key} {seq} {mark}".encode() for key, (seq, mark) in sorted(heads.items())]).hex()


@pytest.mark.parametrize("size", range(1, 18))
def test_the_tree_is_that_of_rfc_6962(size: int) -> None:
    heads = {f"w/ledger/{number:02}": (number, "ab") for number in range(size)}
    assert anchors.merkle_root(heads) == tree(heads)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b",3,", b",2,", "its signature is not ours"),
        (b'"number":1', b'"number":2', "anchor 2 does not follow anchor 0"),
        (b'"signatures":{"1"', b'"signatures":{"9"', "it is not signed"),
    ],
)
def test_a_changed_line_shows(northwind: Workspace, old: bytes, new: bytes, sentence: str) -> None:
    """AU-5: of the file too, nobody without the key can change a letter."""
    file().write_bytes(file().read_bytes().replace(old, new))
    assert any(sentence in text for text in anchors.doubts())


def test_a_line_that_was_taken_out_shows(northwind: Workspace) -> None:
    for number in range(2):
        add(northwind, RUN, number)
        anchors.anchor()
    lines = file().read_bytes().splitlines(keepends=True)
    file().write_bytes(lines[0] + lines[2])
    assert "anchor 3 does not follow anchor 1." in anchors.doubts()


def test_a_line_cut_short_by_a_crash_is_reported_and_breaks_nothing(
    northwind: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """AU-5: the next anchor begins a new line and follows the last whole one."""
    whole = file().read_bytes()
    file().write_bytes(whole + whole[:100])
    add(northwind)
    assert anchors.doubts() == [] and anchors.anchor() == 2 and anchors.doubts() == []
    call_command("ledger", "verify")
    out = capsys.readouterr().out
    assert "1 lines of" in out and "were cut short by a crash" in out and "Compared with 2 anchors" in out


def test_a_new_key_is_named_by_the_one_before(northwind: Workspace) -> None:
    """AU-10, AU-5: whoever trusts the first public key can follow to the next."""
    with override_settings(PLACET_KEYS={**settings.PLACET_KEYS, 2: b"2" * 32}):
        for number in range(2):
            add(northwind, RUN, number)
            anchors.anchor()
        lines = [json.loads(line) for line in file().read_bytes().splitlines()]
        assert [sorted(line["signatures"]) for line in lines] == [["1"], ["1", "2"], ["2"]]
        assert lines[1]["keys"]["2"] == anchors.public_key(2).hex()
        assert anchors.doubts() == []
    assert any("cannot be checked: PLACET_KEYS has no key 2" in text for text in anchors.doubts())


def test_nothing_is_written_while_nothing_moves_or_too_soon(northwind: Workspace) -> None:
    assert anchors.anchor() is None
    add(northwind)
    assert anchors.anchor(every=timedelta(minutes=1)) is None
    assert anchors.anchor() == 2


def test_writers_at_once_make_one_chain(northwind: Workspace, together: Callable[..., list[Any]]) -> None:
    """AU-5: any number of sweeps may share the file."""

    def write() -> None:
        for number in range(3):
            add(northwind, RUN, number)
            anchors.anchor()

    together(*[write] * 4)
    assert anchors.doubts() == [] == said(northwind)


def test_the_file_is_for_its_owner_alone_and_holds_no_content(northwind: Workspace) -> None:
    assert stat.S_IMODE(file().stat().st_mode) == 0o600
    assert b"northwind" not in file().read_bytes() and b"call.proposed" not in file().read_bytes()


def test_the_commands_tell_of_anchors(northwind: Workspace, capsys: Any, change: Callable[..., None]) -> None:
    """AU-5: verify compares; a cut tail makes it fail."""
    add(northwind)
    call_command("ledger", "anchor")
    assert capsys.readouterr().out.startswith(f"Anchor 2 is written: {file()}\nIt is signed for {key()}")
    change(*cut(2))
    with pytest.raises(SystemExit):
        call_command("ledger", "verify")
    lines = capsys.readouterr().out.splitlines()
    assert f"northwind - ledger {RUN}: it was anchored at 4 and stands at 2: its tail was cut off." in lines
    assert lines[-2].startswith("Compared with 2 anchors, the last of ")


def key() -> str:
    return anchors.public_key(keys.current()).hex()


def test_a_file_that_cannot_be_written_is_a_sentence(northwind: Workspace, tmp_path: Path) -> None:
    with override_settings(PLACET_ANCHORS=tmp_path), pytest.raises(CommandError, match="cannot be written"):
        call_command("ledger", "anchor")


def test_an_anchor_is_canonical_json(northwind: Workspace) -> None:
    text = file().read_bytes().rstrip(b"\n")
    assert canonical.encode(canonical.parse(text)) == text
