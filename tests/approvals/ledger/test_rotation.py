"""A new root key takes over step by step; whatever cuts the change short, the next one finishes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from approvals import rows
from approvals.ledger import entries, keys, rotation, sealing, verify
from approvals.ledger.keys import KeyCheck
from approvals.ledger.sealing import seal, unseal
from approvals.people import Workspace
from tests.standing import founded

pytestmark = pytest.mark.committed

PLACE = "approvals_ruling.args:" + "0" * 32
OLD, NEW, NEWER = b"1" * 32, b"2" * 32, b"3" * 32


@pytest.fixture(autouse=True)
def _no_keys_held() -> Iterator[None]:
    sealing.forget()
    yield
    sealing.forget()


@pytest.fixture
def sealed() -> dict[Workspace, bytes]:
    """Three workspaces under the first root key, each with something sealed and an entry in its chain."""
    KeyCheck.objects.all().delete()
    with override_settings(PLACET_KEYS={1: OLD}):
        keys.check_fits()
        return {workspace: _begin(workspace) for workspace in map(_workspace, ("aster", "birch", "cedar"))}


def _workspace(slug: str) -> Workspace:
    return founded(slug, slug.title())


def _begin(workspace: Workspace) -> bytes:
    with rows.within(workspace):
        entries.append(workspace.pk, "workspace", "begun", {}, by=None)
        return seal(workspace.pk, b"args", place=PLACE)


def opened(sealed: dict[Workspace, bytes]) -> set[bytes]:
    sealing.forget()
    found = set()
    for workspace, each in sealed.items():
        with rows.reading(workspace):
            found.add(unseal(workspace.pk, each, place=PLACE))
    return found


def data_keys() -> list[tuple[int, int]]:
    """Number and root number of every workspace's data keys."""
    return sorted((key.number, key.root_number) for key in rotation.data_keys())


def rotated() -> rotation.Rotated:
    return rotation.rotate(by="system")


@override_settings(PLACET_KEYS={1: OLD, 2: NEW})
def test_new_writes_get_a_new_data_key_and_old_ones_are_wrapped_anew(sealed: dict[Workspace, bytes]) -> None:
    """SC-2: the old root key is usable until done; what it sealed opens before and after."""
    assert opened(sealed) == {b"args"}
    assert rotated() == rotation.Rotated(made=3, rewrapped=3, retired=1)
    assert set(data_keys()) == {(1, 2), (2, 2)}
    assert opened(sealed) == {b"args"}
    workspace = next(iter(sealed))
    assert seal(workspace.pk, b"new", place=PLACE)[1:3] == b"\0\2"
    kinds = [entry["kind"] for entry in entries.read(workspace.pk, "workspace")]
    assert kinds == ["begun", "ledger.key_changed", "key.made", "key.rewrapped"]


@override_settings(PLACET_KEYS={1: OLD, 2: NEW})
def test_a_second_rotation_changes_nothing(sealed: dict[Workspace, bytes]) -> None:
    """SC-2."""
    rotated()
    before = [bytes(key.wrapped) for key in rotation.data_keys()]
    assert rotated() == rotation.Rotated()
    assert [bytes(key.wrapped) for key in rotation.data_keys()] == before


@pytest.mark.parametrize("row", range(1, 7))
@override_settings(PLACET_KEYS={1: OLD, 2: NEW})
def test_a_rotation_cut_short_at_any_row_is_finished_by_the_next(
    sealed: dict[Workspace, bytes], row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-2: six rows are written; in the middle everything opens, at the end it is as if nothing had happened."""
    append, count = entries.append, iter(range(1, 100))

    def cut(*args: Any, **more: Any) -> None:
        append(*args, **more)
        if next(count) == row:
            raise KeyboardInterrupt

    monkeypatch.setattr(entries, "append", cut)
    with pytest.raises(KeyboardInterrupt):
        rotated()
    monkeypatch.undo()
    assert opened(sealed) == {b"args"}
    done = rotated()
    assert done.made + done.rewrapped == 7 - row and done.retired == 1
    assert data_keys() == [(1, 2)] * 3 + [(2, 2)] * 3
    assert opened(sealed) == {b"args"}


@override_settings(PLACET_KEYS={1: OLD, 2: NEW})
def test_two_rotations_at_once_do_the_work_of_one(
    sealed: dict[Workspace, bytes], together: Callable[..., list[Any]]
) -> None:
    done = together(rotated, rotated)
    assert [sum(getattr(each, name) for each in done) for name in ("made", "rewrapped")] == [3, 3]
    assert opened(sealed) == {b"args"}


def test_a_retired_key_may_leave_and_still_proves_what_it_signed(sealed: dict[Workspace, bytes]) -> None:
    """SC-2, AU-10: a later key keeps it; over two changes too."""
    with override_settings(PLACET_KEYS={1: OLD}):
        mac = keys.sign("policy", b"data")
    with override_settings(PLACET_KEYS={1: OLD, 2: NEW}):
        rotated()
    with override_settings(PLACET_KEYS={2: NEW, 3: NEWER}):
        assert rotated().retired == 2
    with override_settings(PLACET_KEYS={3: NEWER}):
        keys.check_fits()
        assert keys.holds("policy", b"data", mac) and not keys.holds("policy", b"date", mac)
        assert opened(sealed) == {b"args"}
        findings = [each for workspace in sealed for each in verify.verify_workspace(workspace.pk)]
        assert [finding for verdict in findings for finding in verdict.findings] == []


def test_a_key_that_is_still_needed_may_not_leave(sealed: dict[Workspace, bytes]) -> None:
    """SC-2: without a rotation the process does not start, and the sentence names the key."""
    with override_settings(PLACET_KEYS={2: NEW}), pytest.raises(keys.KeysDoNotFit, match="need key 1"):
        rotated()
    assert data_keys() == [(1, 1)] * 3


@pytest.mark.parametrize("change", [{"kept": bytes(60)}, {"kept_by": 3}, {"kept_by": 1}, {"kept": None}])
def test_a_kept_key_that_was_changed_opens_nothing(sealed: dict[Workspace, bytes], change: dict[str, Any]) -> None:
    """AU-2: nobody who writes the database can put a key of their own there, not even with a stolen older one."""
    with override_settings(PLACET_KEYS={1: OLD, 2: NEW}):
        rotated()
    KeyCheck.objects.filter(number=1).update(**change)
    with override_settings(PLACET_KEYS={2: NEW}), pytest.raises(keys.UnknownKey):
        keys.root(1)


def test_a_key_can_be_brought_to_all_hosts_before_it_is_used(sealed: dict[Workspace, bytes]) -> None:
    """SC-2: two keys present during the change, and a rotation waits for the new one to be in use."""
    with override_settings(PLACET_KEYS={1: OLD, 2: NEW}, PLACET_KEY_IN_USE=1):
        assert keys.key_number(keys.sign("policy", b"data")) == 1
        assert rotated() == rotation.Rotated()


def test_running_processes_take_the_new_data_key_after_a_while(
    sealed: dict[Workspace, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-2: what they know is looked up again."""
    workspace = next(iter(sealed))
    with override_settings(PLACET_KEYS={1: OLD, 2: NEW}):
        seal(workspace.pk, b"a", place=PLACE)
        monkeypatch.setattr(sealing, "forget", lambda: None)
        rotated()
        assert seal(workspace.pk, b"b", place=PLACE)[2] == 1
        monkeypatch.setattr(time, "monotonic", lambda: float("inf"))
        assert seal(workspace.pk, b"c", place=PLACE)[2] == 2


def test_the_command_says_what_depends_on_what(
    sealed: dict[Workspace, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """SC-2: an operator sees when an old key may be removed."""
    with override_settings(PLACET_KEYS={1: OLD, 2: NEW}):
        call_command("keys", "show")
        before = capsys.readouterr().out
        call_command("keys", "rotate")
        after = capsys.readouterr().out
    assert "root key 1: in PLACET_KEYS, wraps 3 data keys, keeps 0 older root keys, still needed" in before
    assert after.startswith("3 data keys made, 3 wrapped anew, 1 root keys retired.")
    assert (
        "root key 1: in PLACET_KEYS, wraps 0 data keys, keeps 0 older root keys, kept by root key 2, may leave" in after
    )
    assert "data key aster/2: wrapped by root key 2" in after


def test_the_command_names_wrong_keys_and_unknown_people(sealed: dict[Workspace, bytes]) -> None:
    with override_settings(PLACET_KEYS={1: NEW}), pytest.raises(CommandError, match="is not the key 1"):
        call_command("keys", "show")
    with override_settings(PLACET_KEYS={1: OLD}), pytest.raises(CommandError, match="nobody with the address"):
        call_command("keys", "rotate", "--by", "nobody@x.example")
