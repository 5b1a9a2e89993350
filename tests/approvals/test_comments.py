"""Comments: said without a verdict, by any member, signed and on record; they decide nothing."""

from __future__ import annotations

import pytest

from approvals import comments, evidence, rows
from approvals.approvals import Approval, Resolution
from approvals.comments import Comment
from approvals.decisions import Decision, Refused, standing
from approvals.erasure import erase
from approvals.ledger import entries
from approvals.people import Person
from tests.approvals.pages.conftest import Reads, at
from tests.approvals.pages.conftest import reads as reads
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")


def leave(approval: Approval, person: Person, text: str = "Ask the carrier first.") -> Comment | Refused:
    return comments.leave(approval.workspace_id, approval.pk, by=person, text=text, via="web")


def code(answer: Comment | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else "taken"


def test_a_comment_decides_nothing_and_the_machine_hears_nothing(cast: Cast, heard: list[Resolution]) -> None:
    """CH-B71: whatever its words say, the approval stays open, and whoever spoke may still decide."""
    approval = ask(cast, refund())
    assert code(leave(approval, cast.dana, "Approve! Yes. 👍")) == "taken"
    approval.refresh_from_db()
    assert (approval.status, heard) == ("pending", []) and not Decision.objects.exists()
    assert standing(approval, cast.dana).may and standing(approval, cast.dana).filled == 0


@pytest.mark.parametrize(("who", "said"), [("riley", "taken"), ("omar", "taken"), ("oskar", "not_allowed")])
def test_any_member_may_speak_and_nobody_else(cast: Cast, who: str, said: str) -> None:
    """AZ-10: also who asks, and who may not decide."""
    assert code(leave(ask(cast, refund()), getattr(cast, who))) == said


def test_who_was_switched_off_says_nothing(cast: Cast) -> None:
    approval = ask(cast, refund())
    Person.objects.filter(pk=cast.dana.pk).update(is_active=False)
    cast.dana.refresh_from_db()
    assert code(leave(approval, cast.dana)) == "not_allowed"


def test_what_is_settled_may_still_be_commented_on(cast: Cast) -> None:
    """DS-4, DS-6: a late word is a note, and changes nothing."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "reject", message="No.")
    before = Approval.objects.values().get()
    assert code(leave(approval, cast.priya, "I would have said yes.")) == "taken"
    assert Approval.objects.values().get() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "needs_message"),
        (" \u200b\u2060\u200b", "needs_message"),
        ("x" * 4001, "message_too_long"),
        ("a\0b", "message_not_text"),
        ("\ud800", "message_not_text"),
    ],
    ids=["empty", "invisible", "long", "nul", "half"],
)
def test_what_cannot_be_kept_is_refused(cast: Cast, text: str, said: str) -> None:
    assert code(leave(ask(cast, refund()), cast.dana, text)) == said


def test_there_is_an_end_to_them(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MOST", 2)
    approval = ask(cast, refund())
    assert [code(leave(approval, cast.dana)) for _ in range(3)] == ["taken", "taken", "too_many_comments"]


def test_one_member_takes_the_word_from_nobody(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MOST_EACH", 2)
    approval = ask(cast, refund())
    assert [code(leave(approval, cast.riley)) for _ in range(3)] == ["taken", "taken", "too_many_comments"]
    assert code(leave(approval, cast.dana, "This is fraud.")) == "taken"


def test_the_words_are_sealed_and_the_entry_has_their_digest(cast: Cast) -> None:
    """AU-1: who said it, of which revision; the words themselves stay outside the ledger."""
    approval = ask(cast, refund())
    made = leave(approval, cast.riley)
    assert isinstance(made, Comment) and made.clear_text() == "Ask the carrier first." and made.revision == 1
    assert b"carrier" not in bytes(made.text)
    entry = entries.read(approval.workspace_id, approval.chain)[-1]
    assert (entry["kind"], entry["by"], entry["comment"]) == ("comment.made", cast.riley.public_id, made.public_id)
    assert entry["text_digest"] == made.text_digest and "carrier" not in str(entry)
    assert not list(evidence.unproven(cast.northwind.pk))


def test_erasing_a_run_empties_its_comments(cast: Cast) -> None:
    approval = ask(cast, refund())
    leave(approval, cast.dana)
    say(approval, cast.dana, "reject", message="No.")
    with rows.within(cast.northwind):
        erase(cast.northwind.pk, approval.chain)
    assert bytes(Comment.objects.get().text) == b"" and Comment.objects.get().holds()
    assert code(leave(approval, cast.dana)) == "erased"


@pytest.mark.committed
@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("DELETE FROM approvals_comment", "is gone"),
        ("UPDATE approvals_comment SET id = gen_random_uuid()", "no entry made comment"),
        ("UPDATE approvals_comment SET revision = 2", "is not as it was written"),
    ],
    ids=["deleted", "added", "moved"],
)
def test_a_comment_changed_past_placet_is_named(cast: Cast, tamper: Tamper, statement: str, finding: str) -> None:
    """AU-2."""
    leave(ask(cast, refund()), cast.dana)
    tamper(statement)
    assert any(finding in each for each in evidence.unproven(cast.northwind.pk))


# The page


def test_the_page_takes_a_comment_and_shows_it_among_what_happened(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    sent = reads(cast.riley).post(at(approval, "/comments"), {"remark": "Ask the <b>carrier</b>."})
    assert sent.status_code == 302 and sent["Location"].endswith("#history")
    say(approval, cast.priya, "reject", message="Not this one.")
    html = reads(cast.dana).get(at(approval)).content.decode()
    assert "Ask the &lt;b&gt;carrier" in html and "<b>Riley</b> said" in html
    story = html[html.index('id="history"') :]
    assert story.index("approved") < story.index("carrier") < story.index("Not this one")


def test_what_was_not_taken_stays_in_its_field(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    answer = reads(cast.dana).post(at(approval, "/comments"), {"remark": "x" * 4001})
    assert answer.status_code == 422 and "x" * 4001 in answer.content.decode()
    assert 'id="remark-fault"' in answer.content.decode() and not Comment.objects.exists()


def test_words_that_are_not_those_written_are_not_shown(cast: Cast, reads: Reads) -> None:
    """A row that somebody adds past Placet speaks for nobody."""
    approval = ask(cast, refund())
    leave(approval, cast.dana, "Ask the carrier first.")
    real = Comment.objects.get()
    forged = Comment(workspace=cast.northwind, approval=approval, revision=1, person=cast.priya, text=real.text)
    forged.text_digest, forged.said_via, forged.said_at, forged.mac = real.text_digest, "web", rows.now(), real.mac
    forged.save(force_insert=True)
    html = reads(cast.riley).get(at(approval)).content.decode()
    assert html.count("Ask the carrier first.") == 1 and "The comment is not the one that was written." in html


def test_a_comment_shows_on_pages_that_are_open(cast: Cast, reads: Reads) -> None:
    """The version that an open page asks with is another one."""
    approval = ask(cast, refund())
    before = reads(cast.dana).get(at(approval)).content.decode().partition("?seen=")[2].partition("&")[0]
    leave(approval, cast.riley)
    asked = {"seen": before, "form": "1"}
    answer = reads(cast.dana).get(at(approval), asked, headers={"HX-Request": "true"})
    assert "Ask the carrier first." in answer.content.decode()
