"""The words of a rule: what they may say, how they are written out, and what two rules come to."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policies
from approvals.bars import stricter
from approvals.ledger import canonical
from approvals.policies import PolicyFault, read_document
from tests.cast import Cast

RULE = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}]}


def read(*rules: dict[str, Any], **top: Any) -> list[dict[str, Any]]:
    return list(read_document(canonical.encode({"policy": 1, "rules": list(rules)} | top))["rules"])


def fault(*rules: dict[str, Any], **top: Any) -> PolicyFault:
    with pytest.raises(PolicyFault) as caught:
        read(*rules, **top)
    return caught.value


def test_a_word_is_written_out_only_where_it_is_said() -> None:
    """What was signed before there was such a word reads the same today."""
    assert not {"assurance", "require_message_on"} & set(read(RULE)[0])
    rule = read(RULE | {"assurance": "fresh", "require_message_on": ["approve"]})[0]
    assert (rule["assurance"], rule["require_message_on"]) == ("fresh", ["approve"])


@pytest.mark.parametrize(
    ("more", "pointer", "rule"),
    [
        ({"assurance": "passkey"}, "/rules/0/assurance", "assurance"),
        ({"assurance": "none"}, "/rules/0/assurance", "enum"),
        ({"require_message_on": []}, "/rules/0/require_message_on", "minItems"),
        ({"require_message_on": ["approved"]}, "/rules/0/require_message_on/0", "enum"),
        ({"hold_after": "soon"}, "/rules/0/hold_after", "duration"),
        ({"hold_after": 0}, "/rules/0/hold_after", "duration"),
        ({"hold_after": "1h", "valid_for": "1h"}, "/rules/0/valid_for", "valid_for"),
        ({"valid_for": "91d"}, "/rules/0/valid_for", "duration"),
        ({"allowed_decisions": ["reject", "edit"]}, "/rules/0/allowed_decisions", "satisfiable"),
        ({"match": {"kind": "budget"}, "hold_after": "1h"}, "/rules/0/hold_after", "kind"),
        ({"verdict": "deny", "approvals": None, "assurance": "fresh"}, "/rules/0/assurance", "verdict"),
    ],
)
def test_a_word_that_cannot_be_kept_is_refused_at_its_place(more: dict[str, Any], pointer: str, rule: str) -> None:
    wrong = {name: value for name, value in (RULE | more).items() if value is not None}
    found = fault(wrong)
    assert (found.pointer, found.rule) == (pointer, rule) and found.message.endswith(".")


def test_a_passkey_is_refused_with_what_to_say_instead() -> None:
    assert "say click, session or fresh" in fault(RULE | {"assurance": "passkey"}).message


@pytest.mark.parametrize("word", ["routes"])
def test_a_word_that_nothing_keeps_is_no_word(word: str) -> None:
    """A policy never says what then does not happen."""
    assert fault(RULE | {word: "1h"}).pointer == f"/rules/0/{word}"


def test_two_rules_together_ask_no_less_than_either() -> None:
    """AZ-5: an edit may raise the bar and never lowers it."""
    before, after = read(
        RULE | {"assurance": "fresh", "require_message_on": ["edit"]},
        RULE | {"id": "s", "assurance": "session", "require_message_on": ["approve"]},
    )
    for rule in (stricter(before, after), stricter(after, before)):
        assert rule["assurance"] == "fresh" and set(rule["require_message_on"]) == {"approve", "edit"}
    assert stricter(read(RULE)[0], after)["assurance"] == "session"


def test_what_is_not_sent_at_once_is_good_for_as_long_as_people_had_and_the_hold() -> None:
    held, plain, said = read(
        RULE | {"hold_after": "1h", "deadline": "2h"},
        RULE | {"id": "s", "deadline": "2h"},
        RULE | {"id": "t", "hold_after": "1h", "valid_for": "90m"},
    )
    assert (held["hold_after"], held["valid_for"], said["valid_for"]) == (3600, 3 * 3600, 5400)
    assert not {"hold_after", "valid_for"} & set(plain)


# What a document asks at least

HIGH = {"high": {"people": 2, "assurance": "session", "require_message_on": ["approve"]}}


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        (RULE | {"risk": "high"}, "/rules/0/approvals"),
        (RULE, "/rules/0/risk"),
        ({"id": "r", "match": {}, "verdict": "allow", "risk": "high"}, "/rules/0/verdict"),
        ({"id": "r", "match": {}, "verdict": "allow"}, "/rules/0/risk"),
        (
            RULE | {"risk": "high", "approvals": [{"team": "a"}, {"team": "b"}], "assurance": "click"},
            "/rules/0/assurance",
        ),
        (
            RULE | {"risk": "high", "approvals": [{"team": "a", "count": 2}], "require_message_on": ["edit"]},
            "/rules/0/require_message_on",
        ),
    ],
)
def test_no_rule_makes_do_with_less_than_the_document_asks(rule: dict[str, Any], pointer: str) -> None:
    """HF-8: where two people are wanted, a rule that asks for one, or lets it go without any, is never in force."""
    found = fault(rule, at_least=HIGH)
    assert (found.pointer, found.rule) == (pointer, "at_least")


def test_a_rule_that_is_silent_asks_what_the_document_asks() -> None:
    """HF-2, HF-8: the higher the risk, the more a yes takes."""
    two = RULE | {"risk": "high", "approvals": [{"team": "finance", "count": 2}]}
    high, low = read(two, RULE | {"id": "s", "risk": "low"}, at_least=HIGH)
    assert (high["assurance"], high["require_message_on"]) == ("session", ["approve"])
    assert not {"assurance", "require_message_on"} & set(low)


def test_a_bare_number_is_so_many_people(cast: Cast) -> None:
    """HF-8: a version that undercuts the document is not loaded, and the one before stays in force."""
    low = {"policy": 1, "at_least": {"high": 2}, "rules": [RULE | {"risk": "high"}]}
    with pytest.raises(PolicyFault, match="at least 2 people where the risk is high, and this asks 1"):
        policies.load(cast.northwind, canonical.encode(low), by="system")
    assert policies.current_version(cast.northwind.pk) == 1


@pytest.mark.parametrize(
    "at_least", [{}, {"extreme": 2}, {"high": 0}, {"high": {}}, {"high": {"assurance": "passkey"}}, {"high": "two"}]
)
def test_a_floor_that_means_nothing_is_refused(at_least: Any) -> None:
    assert fault(at_least=at_least).pointer.startswith("/at_least")
