"""The review page: what it shows, to whom, and in which state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals import outcomes, people, rows
from approvals.approvals import Approval
from tests.approvals.pages.conftest import Reads, at, tamper
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def html_of(reads: Reads, person: Any, approval: Approval, query: str = "") -> str:
    answer = reads(person).get(at(approval) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_title_is_the_sentence_of_the_revision_to_decide(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(124_000))
    html = html_of(reads, cast.priya, approval)
    title = html[html.index("<h1") : html.index("</h1>")]
    assert "€1,240.00" in title and "€1,420.00" not in title


def test_the_rule_that_is_told_is_the_one_that_was_signed(cast: Cast, reads: Reads) -> None:
    """The row's copy of it is signed by nobody: neither a reason nor a team of it is on a page or in a list."""
    approval = ask(cast, refund())
    forged = approval.rule | {"reason": "The board approved it.", "approvals": [{"team": "board", "count": 1}]}
    Approval.objects.filter(pk=approval.pk).update(rule=forged, teams=["board"], rule_id="board-rule")
    pages = [html_of(reads, cast.dana, approval), reads(cast.dana).get("/w/northwind/").content.decode()]
    pages += [reads(cast.dana).get("/api/v1/workspaces/northwind/approvals").content.decode()]
    assert not [page for page in pages if "board" in page]


def test_every_argument_is_on_the_page_in_full(cast: Cast, reads: Reads) -> None:
    """AP-X2, RN-7, CH-B46: the last word of a long text is there, and so is its length."""
    note = "word " * 90 + "the very end"
    html = html_of(reads, cast.dana, ask(cast, refund(note=note)))
    assert "the very end" in html and "462 characters" in html and "ch_3PqT2eLk9fZ" in html and "sent as 42000" in html


def test_what_is_invisible_is_shown_and_counted(cast: Cast, reads: Reads) -> None:
    """RN-5, AP-X5, AP-X6, CH-B59: in the argument and in what the agent says of it."""
    html = html_of(reads, cast.dana, ask(cast, refund(note="two pallets\u200b arrived")))
    assert 'class="unseen"' in html and ">U+200B<" in html and "1 invisible character" in html
    assert "\u200b" not in html


def test_the_facts_come_before_the_agents_unverified_words(cast: Cast, reads: Reads) -> None:
    """RN-10, RN-11: the machine's facts apart from the agent's words, and no summary in the arguments' place."""
    html = html_of(reads, cast.dana, ask(cast, refund()))
    assert html.index("What will run") < html.index("Not verified.") < html.index("Two pallets arrived wet.")
    assert html.index("Two pallets arrived wet.") < html.index('id="decision"') < html.index('id="history"')


def test_an_edit_is_shown_as_what_was_and_what_is(cast: Cast, reads: Reads) -> None:
    """RN-15: proposed and effective side by side; the result alone on request; earlier votes are said to be void."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.priya, "approve")
    say(approval, cast.dana, "edit", edited=refund(124_000))
    html = html_of(reads, cast.priya, approval)
    assert "was </span>€1,420.00</del>" in html and "now </span>€1,240.00</ins>" in html
    assert "Votes for revision 1 no longer count." in html and "Dana changed <b>amount</b>" in html
    assert "<del" not in html_of(reads, cast.priya, approval, "?view=result")


def test_the_bytes_are_named_by_their_digest_and_shown_raw(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    html = html_of(reads, cast.dana, approval)
    revision = approval.revisions.get()
    assert revision.args_digest in html and revision.digest in html and "&quot;amount&quot;: 42000" in html


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("riley", "This is for Finance to decide. You are not one of them."),
        ("omar", "This is for Finance to decide. You are not one of them."),
    ],
)
def test_why_one_may_not_stands_in_the_place_of_the_form(cast: Cast, reads: Reads, name: str, told: str) -> None:
    html = html_of(reads, getattr(cast, name), ask(cast, refund()))
    assert told in html and 'name="verdict"' not in html and "Edit" not in html


def test_who_is_asked_for_by_the_agent_may_reject_and_not_approve(cast: Cast, reads: Reads) -> None:
    html = html_of(reads, cast.dana, ask(cast, refund(), requester=cast.dana))
    assert "on your behalf" in html and 'value="reject"' in html and 'value="approve"' not in html


def test_who_voted_sees_that_it_waits_for_others(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "approve")
    html = html_of(reads, cast.dana, approval)
    assert "It waits for one more." in html and 'value="approve"' not in html and "Waiting for one more" in html


def test_the_panel_says_what_the_click_does(cast: Cast, reads: Reads) -> None:
    html = html_of(reads, cast.dana, ask(cast, refund(142_000)))
    assert "one of two votes. Nothing is sent before the last" in html and "Approve €1,420.00 refund" in html
    assert "Your yes is enough" in html_of(reads, cast.dana, ask(cast, refund()))


def test_why_you_are_asked_names_rule_and_people(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "approve")
    html = html_of(reads, cast.priya, approval)
    assert "two of Finance" in html and "large-refunds" in html and "policy version 1" in html
    assert "<b>Dana</b>" in html and ">You<" in html


@pytest.mark.parametrize(
    ("outcome", "chip", "history"),
    [
        ("", "Approved, about to run", "Approved, about to run"),
        ("executed", "Done", "Ran, once"),
        ("failed", "Failed", "Failed"),
        ("unknown", "Outcome unknown", "Not sent again by itself"),
    ],
)
def test_after_the_verdict_the_page_shows_the_outcome(
    cast: Cast, reads: Reads, outcome: str, chip: str, history: str
) -> None:
    """Approved is not executed: each has its own words."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    if outcome:
        with rows.within(cast.northwind):
            facts = {"note": "It answered 503.", "checkpoint_mac": ""}
            outcomes.report(cast.northwind.pk, approval.chain, approval.subject, outcome, **facts)
    html = html_of(reads, cast.priya, approval)
    assert chip in html and history in html and 'name="verdict"' not in html and "Approved by Dana" in html
    assert ("happen?" in html) == (outcome == "unknown")


def test_a_rejection_is_shown_with_its_reason(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    say(approval, cast.priya, "reject", message="Already replaced, see ticket 4402.")
    html = html_of(reads, cast.dana, approval)
    assert "Rejected" in html and "Already replaced, see ticket 4402." in html and "Nothing ran." in html


def test_past_its_deadline_it_is_expired_before_the_sweep_comes(cast: Cast, reads: Reads) -> None:
    """IN-M5: a page opened too late says so and offers nothing."""
    approval = ask(cast, refund())
    Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now() - timedelta(seconds=1))
    html = html_of(reads, cast.dana, approval)
    assert "Expired" in html and "Nobody decided" in html and 'name="verdict"' not in html


def test_what_comes_next_is_offered(cast: Cast, reads: Reads) -> None:
    one, other = ask(cast, refund(11_100)), ask(cast, refund(22_200))
    assert "1 of 2 for you" in html_of(reads, cast.dana, one)
    say(one, cast.dana, "reject", message="No.")
    html = html_of(reads, cast.dana, one)
    assert "Next for you" in html and at(other) in html
    say(other, cast.dana, "reject", message="No.")
    assert "Nothing more waits for you" in html_of(reads, cast.dana, other)


def test_the_history_tells_people_and_machine_in_order(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.priya, "approve", message="Photos match.")
    say(approval, cast.dana, "edit", edited=refund(124_000), message="As offered.")
    html = html_of(reads, cast.riley, approval)
    story = html[html.index('id="history"') :]
    told = ["proposed", "asks two of Finance", "Photos match.", "changed amount and approved", "no longer counts"]
    places = [story.index(words) for words in told]
    assert places == sorted(places) and story.count("As offered.") == 1


def test_the_page_tells_the_rule_that_was_signed(cast: Cast, reads: Reads) -> None:
    """The copy beside the approval is for lists, and convinces nobody here."""
    approval = ask(cast, refund())
    approval.rule["reason"] = "The board has approved it already."
    approval.save(update_fields=["rule"])
    assert "The board has approved" not in html_of(reads, cast.dana, approval)


def test_a_page_of_forged_rows_shows_none_of_them(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    tamper(approval)
    answer = reads(cast.dana).get(at(approval))
    assert answer.status_code == 409 and "tampered with" in answer.content.decode()
    assert "ch_3PqT2eLk9fZ" not in answer.content.decode()


def test_secrets_are_on_no_part_of_the_page(cast: Cast, reads: Reads) -> None:
    """RN-13, AP-X7: not in the table, not in the raw JSON; how many are masked is said."""
    from dataclasses import replace

    from tests.cast import REFUND, REFUND_SCHEMA

    schema = {**REFUND_SCHEMA, "properties": {**REFUND_SCHEMA["properties"], "api_key": {"type": "string"}}}
    approval = ask(cast, refund(api_key="k-e-y-5551"), tool=replace(REFUND, schema=schema))
    for path in (at(approval), at(approval, "/edit"), at(approval, "/edit?mode=json")):
        assert "k-e-y-5551" not in reads(cast.dana).get(path).content.decode()
    assert "1 masked" in html_of(reads, cast.dana, approval)


# News for an open page


def news(reads: Reads, person: Any, approval: Approval, seen: str, form: int = 1) -> Any:
    return reads(person).get(f"{at(approval)}?seen={seen}&form={form}", headers={"HX-Request": "true"})


def test_an_open_page_is_told_nothing_when_nothing_changed(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    assert news(reads, cast.priya, approval, "1.0.pending").status_code == 204


def test_a_vote_changes_the_count_and_leaves_the_form(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "approve")
    html = news(reads, cast.priya, approval, "1.0.pending").content.decode()
    assert "1 of 2" in html and 'id="why"' in html and "<textarea" not in html and "<h1" not in html


def test_an_edit_meanwhile_takes_the_buttons_away_and_keeps_the_comment(cast: Cast, reads: Reads) -> None:
    """WB-3: nobody decides about what they have not seen."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(124_000, note="As offered"))
    html = news(reads, cast.priya, approval, "1.0.pending").content.decode()
    assert "Dana changed this while you were reading." in html and "Show 2 changes" in html
    assert 'value="approve"' not in html and "<textarea" not in html


def test_what_was_settled_elsewhere_replaces_the_page(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    answer = news(reads, cast.priya, approval, "1.0.pending")
    assert answer["HX-Retarget"] == "#page" and "Approved by Dana" in answer.content.decode()


@pytest.mark.parametrize(
    "query", ["?since=0", "?since=99", "?since=x", "?since=-1", "?since=9999999999999", "?seen=&form=x"]
)
def test_an_odd_address_gives_the_page(cast: Cast, reads: Reads, query: str) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(124_000))
    assert html_of(reads, cast.priya, approval, query)


def test_the_page_shows_a_team_without_people(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    for person in (cast.dana, cast.priya):
        people.revoke(person, "decide", cast.finance, by="system")
    assert "Nobody who is left" in html_of(reads, cast.riley, approval)


def test_everyone_reads_who_can_decide_and_why_the_others_cannot(cast: Cast, reads: Reads) -> None:
    """AZ-2: also whoever may not, so that nobody waits for the wrong person."""
    html = html_of(reads, cast.omar, ask(cast, refund(42_000), requester=cast.dana))
    who = html[
        html.index("Who can decide, and who cannot") : html.index("</details>", html.index("Who can decide, and"))
    ]
    assert who.index("Priya Nair") < who.index("Dana Okafor") < who.index("is the one on whose behalf it is asked")
