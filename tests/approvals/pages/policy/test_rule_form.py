"""A rule written by a form: everyday changes without JSON, and nothing of the rule lost by it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from approvals import policies, policy_source
from approvals.pages.policy import rule_form, whens
from approvals.policies import read_document
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.pages.policy.test_draft import begun, omar, the_draft, write
from tests.approvals.pages.policy.test_telling import SAID, document
from tests.cast import POLICY, Cast

omar = omar
RICH = POLICY.replace("    deadline: 1h\n", "    deadline: 1h\n    standing: {for: 1h, uses: 3}\n", 1)


class Form(HTMLParser):
    """What a browser would send of the form for a rule, without a press."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sent: list[tuple[str, str]] = []
        self._area, self._select, self._inside = "", "", False
        self.feed(html)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in given}
        self._inside = self._inside or (tag == "form" and "ruling" in has.get("class", ""))
        if not self._inside:
            return
        if tag == "input" and (has.get("type") not in {"checkbox", "radio"} or "checked" in has):
            self.sent.append((has["name"], has.get("value", "on")))
        if tag == "textarea":
            self._area = has["name"]
            self.sent.append((self._area, ""))
        if tag == "select":
            self._select = has["name"]
            self.sent.append((self._select, ""))
        if tag == "option" and "selected" in has and self._select:
            self.sent[-1] = (self._select, has.get("value", ""))
        if tag == "option" and "value" not in has and "selected" in has:
            self._area = self._select
            self.sent[-1] = (self._select, "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._area = "" if tag in {"textarea", "option"} else self._area

    def handle_data(self, data: str) -> None:
        if self._area and self._inside:
            name, said = self.sent[-1]
            self.sent[-1] = (name, (said + data).removeprefix("\n"))


def fields(page: Client, at: str, rule: str = "") -> dict[str, list[str]]:
    answer = page.get(f"{at}/rule" + (f"?rule={rule}" if rule else ""))
    assert answer.status_code == 200
    found: dict[str, list[str]] = {}
    for name, value in Form(answer.content.decode()).sent:
        found.setdefault(name, []).append(value)
    return found


def send(page: Client, at: str, sent: dict[str, Any], rule: str = "") -> Any:
    return page.post(f"{at}/rule" + (f"?rule={rule}" if rule else ""), {"do": "save", **sent}, follow=True)


def rule(name: str) -> dict[str, Any]:
    return next(each for each in read_document(the_draft().text)["rules"] if each["id"] == name)


@pytest.mark.parametrize("name", ["small-refunds", "refunds", "large-refunds", "no-closing"])
def test_a_form_sent_as_it_is_changes_nothing(cast: Cast, omar: Client, name: str) -> None:
    policies.load(cast.northwind, RICH, by="system")
    at = begun(omar)
    before = read_document(the_draft().text)
    assert "is saved" in send(omar, at, fields(omar, at, name), name).content.decode()
    assert read_document(the_draft().text) == before and the_draft().number == 2


@pytest.mark.parametrize("said", SAID, ids=lambda said: "-".join(said))
def test_no_word_of_a_rule_is_lost_by_the_form(said: dict[str, Any]) -> None:
    whole = document(said)
    source = policy_source.source(whole)
    form = rule_form.of_rule(source["rules"][0], 1)
    done = rule_form.put(source, 0, rule_form.rule_of(form), form.place)
    assert read_document(policy_source.text(done)) == whole


def test_everyday_changes_need_no_json(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    sent = fields(omar, at, "refunds")
    sent |= {
        "count-finance": ["2"],
        "deadline": ["4h"],
        "risk": ["high"],
        "assurance": ["fresh"],
        "hold_after": ["15m"],
    }
    sent["value"] = [value.replace("100000", "80,000") for value in sent["value"]]
    assert "is saved" in send(omar, at, sent, "refunds").content.decode()
    now = rule("refunds")
    assert now["match"]["when"]["properties"]["amount"]["maximum"] == 80_000 and now["deadline"] == 14_400
    assert (now["approvals"], now["risk"], now["hold_after"]) == ([{"team": "finance", "count": 2}], "high", 900)


def test_a_new_rule_is_put_where_its_author_wants_it(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    sent = fields(omar, at) | {"id": ["reading"], "place": ["1"], "tools": ["tickets.read\norders.read"]}
    assert "is saved" in send(omar, at, sent | {"verdict": ["allow"]}).content.decode()
    first = read_document(the_draft().text)["rules"][0]
    assert first["id"] == "reading" and first["match"] == {"tool": ["tickets.read", "orders.read"]}


def test_a_rule_is_taken_out(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    answer = send(omar, at, fields(omar, at, "no-closing") | {"do": "remove"}, "no-closing")
    assert "is removed" in answer.content.decode()
    assert [each["id"] for each in read_document(the_draft().text)["rules"]][-1] == "large-refunds"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"id": "Big One"}, 'id="fault-id"'),
        ({"id": "large-refunds"}, "called large-refunds already"),
        ({"deadline": "soon"}, 'id="fault-deadline"'),
        ({"count-finance": "9"}, "nobody could satisfy it"),
        ({"count-finance": "two"}, "as a number"),
        ({"count-finance": ""}, "Say which team must approve."),
        ({"value": ["much", "integer", "", ""]}, "/match/when/properties/amount/maximum"),
        ({"hold_after": "-3"}, 'id="fault-hold_after"'),
        ({"verdict": ""}, "Nothing is saved yet."),
    ],
)
def test_a_mistake_is_told_at_its_field_and_nothing_is_lost(
    cast: Cast, omar: Client, wrong: dict[str, Any], told: str
) -> None:
    at = begun(omar)
    sent = fields(omar, at, "refunds") | {"reason": "A sentence typed here."} | wrong
    answer = send(omar, at, sent, "refunds")
    html = answer.content.decode()
    assert answer.status_code == 422 and told in html and "A sentence typed here." in html
    assert the_draft().number == 1


def test_a_rule_that_is_not_there_is_not_found(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    assert omar.get(f"{at}/rule?rule=nothing").status_code == 404
    write(omar, at, "policy: 1\nrules: [}")
    assert omar.get(f"{at}/rule")["Location"] == f"{at}/text"


def test_a_form_over_yaml_says_that_comments_go(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, POLICY)
    assert "Comments in it go." in omar.get(f"{at}/rule?rule=refunds").content.decode()


@pytest.mark.parametrize(
    "when",
    [
        {"required": ["a"], "properties": {"a": {"maximum": 5, "type": "integer"}}},
        {"required": ["a", "b"], "properties": {"a": {"const": "5"}, "b": {"enum": ["x", 5, True]}}},
        {"required": ["a"]},
        {"required": ["a"], "properties": {"a": {"const": "“quoted” text"}}},
    ],
)
def test_rows_say_what_the_condition_said(when: dict[str, Any]) -> None:
    rows = whens.rows(when)
    assert rows is not None and whens.condition(rows) == when


@pytest.mark.parametrize(
    "when",
    [
        {"properties": {"a": {"maximum": 5}}},
        {"required": ["a"], "properties": {"a": {"properties": {}}}},
        {"required": ["a"], "properties": {"a": {"enum": ["x, y"]}}},
        {"required": ["a"], "properties": {"a": {"const": {"b": 1}}}},
        {"not": {}},
    ],
)
def test_a_condition_that_rows_cannot_hold_stays_json(when: dict[str, Any]) -> None:
    assert whens.rows(when) is None


def test_ticks_and_texts_of_a_form_are_read_as_they_were_sent() -> None:
    sent = QueryDict("id=a&verdict=allow&kind=budget&tools=t&place=1&require_message_on=approve", mutable=True)
    form = rule_form.of_post(sent, {}, {"standing": {"for": "1h"}})
    assert rule_form.rule_of(form)["require_message_on"] == ["approve"] and form.kept == {"standing": {"for": "1h"}}
