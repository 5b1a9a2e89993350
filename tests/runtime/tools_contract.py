"""What every kind of tool must keep to. A kind's tests take the class and say how its tool is made to behave."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.ledger import canonical
from runtime import tools
from runtime.tools import Answer, Use

USE = Use("call_" + "1" * 32, "k" * 64, 5.0)


class ToolContract:
    """``behave`` prepares one answer; ``send`` uses the tool once; ``uses`` are the arguments and keys it has met."""

    def behave(self, how: str, value: Any = None) -> None:
        raise NotImplementedError

    def send(self, args: bytes, use: Use = USE) -> Answer:
        raise NotImplementedError

    def uses(self) -> list[tuple[Any, str]]:
        raise NotImplementedError

    def test_it_is_given_the_arguments_and_the_key(self) -> None:
        """AP-D3."""
        self.behave("returns", {"done": True})
        answer = self.send(canonical.encode({"amount": 7, "note": "Żółć"}))
        assert answer == Answer(tools.EXECUTED, {"done": True})
        assert self.uses() == [({"amount": 7, "note": "Żółć"}, USE.key)]

    def test_a_refusal_means_that_nothing_happened(self) -> None:
        self.behave("refuses")
        answer = self.send(b"{}")
        assert answer.outcome == tools.FAILED_BEFORE and answer.message

    def test_a_failure_may_have_happened(self) -> None:
        self.behave("fails")
        answer = self.send(b"{}")
        assert answer.outcome == tools.FAILED_AFTER and answer.message

    def test_what_the_tool_says_stands_in_the_message_and_not_in_the_note(self) -> None:
        """The message is sealed, the note is not."""
        for how in ("refuses", "fails"):
            self.behave(how, "the customer's name")
            answer = self.send(b"{}")
            assert "customer" in answer.message and "customer" not in answer.note and answer.note

    @pytest.mark.parametrize("value", [None, [], "text", 0, {"nested": [{"a": 1}]}])
    def test_any_json_can_be_returned(self, value: Any) -> None:
        self.behave("returns", value)
        assert self.send(b"{}") == Answer(tools.EXECUTED, value)

    def test_a_result_that_cannot_be_kept_was_still_executed(self) -> None:
        """It happened: saying that it failed would be a lie."""
        self.behave("returns nonsense")
        answer = self.send(b"{}")
        assert (answer.outcome, answer.value) == (tools.EXECUTED, None) and "kept" in answer.message

    def test_nothing_is_sent_when_the_time_is_over(self) -> None:
        """DU-E15."""
        self.behave("returns", 1)
        assert self.send(b"{}", Use(USE.call_id, USE.key, 0.0)).outcome == tools.NOT_SENT and self.uses() == []
