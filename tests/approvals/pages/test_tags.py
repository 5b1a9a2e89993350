"""What templates can say: marked text, times, raw JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.template import Context, Template

from approvals.pages import tags


def shown(source: str, **context: Any) -> str:
    return Template(source).render(Context(context))


HIDDEN = "\x07\xad\u034f\u061c\u115f\u1160\u180b\u200b\u200d\u200e\u2028\u202e\u2060\u2800\u3164\ufeff\uffa0\ufe0f"


@pytest.mark.parametrize("point", [*map(ord, HIDDEN), 0x2066, 0xE000, 0xE0041, 0xE0101], ids=hex)
def test_what_cannot_be_seen_is_a_code_point(point: int) -> None:
    """RN-5, AP-X5: in every place where text of agents stands."""
    html = shown("{{ text|marked }}", text=f"two{chr(point)}pallets")
    assert f">U+{point:04X}<" in html and chr(point) not in html


def test_agents_text_is_inert() -> None:
    """RN-1 and IN-M9: no tag, no link, no image comes out of it; its direction stays its own."""
    html = shown("{{ text|marked }}", text='<img src="https://evil"><script>alert(1)</script> <https://a|b>')
    assert "<img" not in html and "<script" not in html and html.startswith("<bdi>") and "&lt;img" in html


def test_a_long_gap_is_a_count_and_its_end_stays_in_sight() -> None:
    """RN-8: nothing is pushed out of sight."""
    html = shown("{{ text|marked }}", text="ls" + " " * 2900 + "; rm -rf /")
    assert "2,900 spaces" in html and "; rm -rf /" in html and " " * 20 not in html


def test_a_time_is_for_machines_too() -> None:
    html = tags.moment(datetime(2026, 11, 29, 12, 0, tzinfo=UTC), "day")
    assert 'datetime="2026-11-29T12:00:00+00:00"' in html and "29 Nov 2026" in html and 'title="29 November' in html
    assert tags.moment(None) == ""


def test_raw_json_keeps_its_indent_and_marks_the_rest() -> None:
    html = tags.raw_text('{\n                      "a": "x\u200b"\n}')
    assert '\n                      &quot;a&quot;: &quot;x<span class="unseen"' in html


def test_secrets_stay_masked_in_a_state() -> None:
    """RN-13: masks hold on the page of a run too."""
    html = tags.masked_json({"api_key": "sk_live_0123456789abcdef", "n": 1, "list": [{"password": "hunter2"}]})
    assert "hunter2" not in html and "sk_live" not in html and "&quot;n&quot;: 1" in html


def test_a_call_whose_arguments_are_gone_says_so() -> None:
    class Tool:
        name, title, summary = "x", "Send mail", ""

    assert tags.act(Tool, None, "arguments that cannot be read").title == "Send mail: arguments that cannot be read"


def test_ids_and_digests_are_shown_by_their_ends() -> None:
    assert tags.short_id("apr_0193aaaabbbbccccddddeeeeffff41e0") == "apr_0193…41e0"
    assert tags.spaced("7b1e44c0" + "0" * 52 + "9d02") == "7b1e 44c0 … 9d02"
