"""What a press does: the one thing that it says, for the one approval that it names."""

from __future__ import annotations

import inspect
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings

from approvals.approvals import Approval
from approvals.decisions import Decision, Refused, decide
from approvals.pages import urls
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")

Button = tuple[str | None, str | None]


class Forms(HTMLParser):
    """Of each form that posts: where it goes, and its buttons in their order; what takes the focus by itself, and the
    boxes with which something is picked."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, list[Button]]] = []
        self.focused: list[str] = []
        self.boxes = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.focused += [tag] if "autofocus" in given else []
        self.boxes += given.get("type") == "checkbox" and given.get("name") == "pick"
        if tag == "form" and given.get("method") == "post":
            self.forms.append((str(given.get("action")), []))
        elif tag == "button" and self.forms:
            self.forms[-1][1].append((given.get("name"), given.get("value")))

    def of(self, end: str) -> list[Button]:
        """The buttons of the form that goes to such an address."""
        return next(buttons for action, buttons in self.forms if action.endswith(end))


def test_enter_and_the_first_focus_do_not_approve(cast: Cast, reads: Reads) -> None:
    """HF-3: a browser presses a form's first button on Enter; here that is the no, which needs words."""
    approval = ask(cast, refund())
    page = Forms(reads(cast.dana).get(at(approval)).content.decode())
    assert page.of("/decision")[0] == ("verdict", "reject") and ("verdict", "approve") in page.of("/decision")
    assert page.focused == []
    sent = form_of(approval, verdict="reject")
    assert reads(cast.dana).post(at(approval, "/decision"), sent).status_code == 422
    assert Approval.objects.get().status == "pending"


def test_enter_in_an_edit_looks_over_and_saves_nothing(cast: Cast, reads: Reads) -> None:
    """HF-3: saving an edit can be a yes, so it is not the first button either."""
    page = Forms(reads(cast.dana).get(at(ask(cast, refund()), "/edit")).content.decode())
    assert page.of("/edit")[0] == ("do", "check") and page.focused == []


def test_the_keys_of_the_page_only_move_the_focus() -> None:
    """HF-3: `a` goes to the button and does not press it; what is pressed is a link, or the box that selects a row."""
    code = Path(settings.BASE_DIR, "static", "keys.js").read_text("utf-8")
    assert "a: () => focus('button[data-key=\"a\"]')" in code
    for harmless in ('document.querySelector(`a[data-key="${key}"]`)?.click()', "if (box) box.click()"):
        assert harmless in code
        code = code.replace(harmless, "")
    assert "click()" not in code


def test_a_form_without_a_verdict_decides_nothing(cast: Cast, reads: Reads) -> None:
    """HF-3: submitted past its buttons it names none."""
    approval = ask(cast, refund())
    assert reads(cast.dana).post(at(approval, "/decision"), form_of(approval)).status_code == 409
    assert not Decision.objects.exists()


def test_the_page_says_what_nobody_has_checked(cast: Cast, reads: Reads) -> None:
    """HF-7: who decides is told the limits of what Placet knows."""
    html = reads(cast.dana).get(at(ask(cast, refund()))).content.decode()
    assert "Placet checks the form of a call, the rule and who says yes." in html
    assert "It does not know what the agent means by it" in html


def test_a_verdict_names_its_approval_and_no_other_is_touched(cast: Cast) -> None:
    """DS-5, CH-B72: there is no oldest, newest or only one that an unnamed verdict could be for."""
    first, second = ask(cast, refund(41_000)), ask(cast, refund(42_000))
    taken = inspect.signature(decide).parameters
    assert all(taken[name].default is inspect.Parameter.empty for name in ("approval_id", "revision", "digest"))
    say(second, cast.dana, "approve")
    assert [Approval.objects.get(pk=one.pk).status for one in (first, second)] == ["pending", "approved"]


def test_what_was_seen_of_one_approval_decides_no_other(cast: Cast) -> None:
    """DS-5: equal calls have digests of their own."""
    first, second = ask(cast, refund()), ask(cast, refund())
    answer = say(first, cast.dana, "approve", digest=second.revisions.get().digest)
    assert isinstance(answer, Refused) and answer.code == "wrong_digest"
    assert set(Approval.objects.values_list("status", flat=True)) == {"pending"}


@pytest.mark.parametrize("name", ["latest", "oldest", "pending", "all", "*", "apr_", "0"])
def test_no_word_stands_for_an_approval(cast: Cast, reads: Reads, name: str) -> None:
    """DS-5, DS-11."""
    approval = ask(cast, refund())
    sent = form_of(approval, verdict="approve")
    assert reads(cast.dana).post(f"/w/northwind/approvals/{name}/decision", sent).status_code == 404
    assert not Decision.objects.exists()


def test_no_list_decides_several_unread(cast: Cast, reads: Reads) -> None:
    """DS-11: a list has links and no verdicts; only what policy lets be answered together can be selected, and that
    leads to the page that shows all of it. Every other address that takes a verdict names one approval."""
    for amount in (41_000, 42_000, 200_000):
        ask(cast, refund(amount))
    page = Forms(reads(cast.dana).get("/w/northwind/").content.decode())
    assert not [action for action, _ in page.forms if "approvals" in action] and page.boxes == 0
    routes = [str(each.pattern) for each in urls.urlpatterns if "decision" in str(each.pattern)]
    assert routes and all("<str:approval_id>" in route for route in routes)


def test_each_of_several_has_a_decision_and_a_digest_of_its_own(cast: Cast) -> None:
    """DS-11, BD-3."""
    for _ in range(3):
        say(ask(cast, refund()), cast.dana, "approve")
    made = Decision.objects.values_list("approval", "digest")
    assert len(set(made)) == 3 and len({digest for _, digest in made}) == 3
