"""The model of the protocol: every law holds in it, every mutant is found, and its moves are those of the code."""

from __future__ import annotations

import re

import pytest

from approvals.approvals import Approval
from approvals.rows import Row
from runtime.calls import Call
from runtime.runs import Run
from tests.model import spin
from tests.model.spin import Checker, Scene

MODELS: dict[str, type[Row]] = {"Run": Run, "Call": Call, "Approval": Approval}


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    return Checker(tmp_path_factory.mktemp("model"))


def test_every_law_holds_and_every_move_is_come_to(checker: Checker) -> None:
    """DU-L1, DU-E7, DU-L15, DU-L34: two workers, two calls, two people, crashes and take-overs at any place; and what
    is never come to would prove nothing."""
    searches = [checker.search(scene) for scene in spin.SCENES]
    assert not any(search.broken for search in searches)
    never = frozenset.intersection(*(search.unreached for search in searches))
    assert [statement for statement, places in checker.changes.items() if places <= never] == []


def test_what_the_protocol_may_not_do_without_is_missed(checker: Checker) -> None:
    """Every mutant is found, and for every law there is one that breaks it; only the moves are looked at apart."""
    assert list(spin.MUTANTS) == list(spin.BROKEN.values())
    broken = {name: checker.search(Scene(name, *scene), name).broken for name, scene in spin.MUTANTS.items()}
    assert [name for name, laws in broken.items() if not laws] == []
    assert set(spin.LAWS.values()) - frozenset().union(*broken.values()) == {"MOVES_AS_LISTED"}


@pytest.mark.parametrize("name", MODELS)
def test_its_moves_are_those_of_the_code(name: str) -> None:
    """Together with those that it says it leaves out, and nothing twice."""
    listed = {(source, target) for source, targets in MODELS[name].MOVES.items() for target in targets}
    made = set(re.findall(rf"\bmove\({name}(?:\[[^\]]*\])?, (\w+), (\w+)\)", spin.TEXT))
    left_out = re.findall(rf"^ +left out: {name} (\w+) (\w+)", spin.TEXT, re.MULTILINE)
    assert made | set(left_out) == listed and not made & set(left_out)
    assert len(left_out) == len(set(left_out))


@pytest.mark.parametrize("name", MODELS)
def test_nothing_changes_a_status_but_a_move(name: str) -> None:
    """Apart from a beginning: a call is proposed, an approval opened, or forgotten once it has ended."""
    begins = {"proposed", "pending", "none"}
    code = re.sub(r"/\*.*?\*/", "", spin.TEXT, flags=re.DOTALL)
    changed = re.findall(rf"\b{name}(?:\[[^\]]*\])? = (\w+)", code)
    forged = {"cleared", "expired"} if name == "Call" else {"ready"} if name == "Run" else set()
    assert set(changed) <= begins | forged and changed.count("cleared") <= 1 and changed.count("expired") <= 1
