"""Versions of a policy: what differs between two, when each came into force and by whom."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import policies, policy_diff, policy_versions
from approvals.ledger import canonical
from approvals.policies import Policy, read_document
from tests.cast import POLICY, Cast

RULES: list[dict[str, Any]] = [
    {"id": "small", "match": {"tool": "pay", "when": {"properties": {"sum": {"maximum": 50}}}}, "verdict": "allow"},
    {"id": "large", "match": {"tool": "pay"}, "verdict": "require_approval", "approvals": [{"team": "finance"}]},
    {"id": "rest", "match": {}, "verdict": "deny"},
]


def document(*rules: dict[str, Any], **top: Any) -> dict[str, Any]:
    return read_document(canonical.encode({"policy": 1, "rules": list(rules)} | top))


def told(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [str(each) for each in policy_diff.differences(before, after)]


def run(cast: Cast, *words: str) -> str:
    out = StringIO()
    call_command("policy", *words, "--workspace", cast.northwind.slug, stdout=out)
    return out.getvalue()


def test_a_difference_names_the_rule_and_the_word_in_it() -> None:
    small, large, rest = RULES
    wider = small | {"match": {"tool": "pay", "when": {"properties": {"sum": {"maximum": 90}}}}}
    assert told(document(*RULES), document(wider, large | {"assurance": "fresh"}, rest)) == [
        "* rule small /match/when/properties/sum/maximum: 50 -> 90",
        '+ rule large /assurance: "fresh"',
    ]


def test_a_rule_that_changed_its_place_is_told_for_the_first_that_matches_decides() -> None:
    small, large, rest = RULES
    assert told(document(*RULES), document(large, small, rest))[0].startswith("~ rule ")
    assert len(told(document(*RULES), document(large, small, rest))) == 1


def test_a_rule_that_comes_or_goes_moves_no_other() -> None:
    small, large, rest = RULES
    one, other = policy_diff.differences(document(*RULES), document(large, rest, small | {"id": "more"}))
    assert (one.what, one.where, other.what, other.where) == ("removed", "rule small", "added", "rule more")


def test_words_at_the_top_are_compared_too() -> None:
    masked = document(*RULES, masks={"pay": ["/iban"]})
    assert told(document(*RULES), masked) == ['+ masks: {"pay":["/iban"]}']
    assert told(masked, document(*RULES)) == ['- masks: {"pay":["/iban"]}']


def test_the_same_rules_in_other_words_differ_in_nothing() -> None:
    """Defaults are written out in both, so that leaving one out is no difference."""
    assert told(document(*RULES), document(RULES[0], RULES[1] | {"deadline": "1d"}, RULES[2])) == []


def test_every_version_says_who_put_it_in_force_and_what_it_changed(cast: Cast) -> None:
    policies.load(
        cast.northwind, POLICY.replace("maximum: 5000", "maximum: 9000"), by=cast.dana.public_id, author=cast.dana
    )
    second, first = policy_versions.versions(cast.northwind.pk)
    assert (second.number, second.author, first.author) == (2, "Dana Okafor", "Omar Haddad")
    assert [each.where for each in second.changed or []] == ["rule small-refunds"]
    assert {each.what for each in first.changed or []} == {"added"} and first.rules == 4


def test_a_version_that_no_entry_put_in_force_says_so(cast: Cast) -> None:
    """AU-2: neither its row nor its author is believed."""
    body = canonical.encode(document(*RULES))
    forged = Policy(workspace=cast.northwind, version=2, document=body, author=cast.dana, mac=cast.policy.mac)
    forged.digest = canonical.sha256_hex(body)
    forged.save(force_insert=True)
    newest = policy_versions.versions(cast.northwind.pk)[0]
    assert (newest.author, newest.at, newest.changed) == (
        "nobody",
        "",
        None,
    ) and "not as it was saved" in newest.problem
    with pytest.raises(CommandError, match="not as it was saved"):
        run(cast, "diff", "1")


def test_the_command_compares_versions_and_files(cast: Cast, tmp_path: Path) -> None:
    file = tmp_path / "next.yaml"
    file.write_text(POLICY.replace("maximum: 5000", "maximum: 9000"))
    line = "* rule small-refunds /match/when/properties/amount/maximum: 5000 -> 9000\n"
    assert run(cast, "diff", str(file)) == run(cast, "diff", "1", str(file)) == line
    policies.load(cast.northwind, file.read_bytes(), by="system")
    assert run(cast, "diff", "1") == run(cast, "diff", "1", "2") == line
    assert run(cast, "diff", str(file)) == "They say the same.\n"
    listed = run(cast, "versions").splitlines()
    assert (
        listed[0].startswith("2  ")
        and "system" in listed[0]
        and listed[1] == "    changed rule small-refunds " + ("/match/when/properties/amount/maximum")
    )


@pytest.mark.parametrize("words", [["diff", "7"], ["diff", "1", "nowhere.yaml"], ["show", "--version", "7"]])
def test_what_is_not_there_is_said_in_a_sentence(cast: Cast, words: list[str]) -> None:
    with pytest.raises(CommandError, match=r"no such policy|No such file"):
        run(cast, *words)
