"""What is refused by a ledger that was read a moment ago is looked at once more, by the ledger as it is by then."""

from __future__ import annotations

import pytest

from runtime import precedents
from runtime.definitions import Tool
from tests.runtime import tooling
from tests.runtime.conftest import Desk
from tests.runtime.test_dispatch import approved


@pytest.mark.parametrize("answers", [[True], [False, True], [False, False]])
def test_only_a_second_no_refuses(desk: Desk, monkeypatch: pytest.MonkeyPatch, answers: list[bool]) -> None:
    left, real = list(answers), precedents.in_force

    def in_force(tool: Tool) -> bool:
        return real(tool) and left.pop(0)

    run, _ = approved(desk)
    monkeypatch.setattr(precedents, "in_force", in_force)
    assert desk.work(run).status == "completed"
    assert len(tooling.happened("sent")) == answers[-1] and not left
