"""Breaking the glass: one named person lets a call go in an emergency, everybody is told, and it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from guardian.shortcuts import assign_perm

from approvals import approvals, bars, erasure, gate, glass, halts, oversight, people, policies, rows
from approvals.approvals import Approval, Resolution
from approvals.assurance import CLICK, Assurance
from approvals.decisions import Decided, Decision, Refused
from approvals.glass import GlassReview
from approvals.ledger import canonical, entries
from approvals.people import Team
from approvals.policies import PolicyFault
from tests.cast import Cast, ask, formed, refund, say
from tests.clock import set_forward

pytestmark = pytest.mark.usefixtures("heard")

Later = Callable[[int], None]
FRESH = Assurance("fresh", ("password",))
PRIYA = "priya@northwind.example"
GLASS: dict[str, Any] = {"team": "duty", "review": {"team": "security", "within": "1h"}}


def document(**words: Any) -> bytes:
    rule: dict[str, Any] = {"id": "refunds", "match": {}, "verdict": "require_approval", "deadline": "1d"}
    rule |= {"approvals": [{"team": "finance", "count": 2}], "break_glass": GLASS}
    return canonical.encode({"policy": 1, "rules": [rule | words]})


@dataclass(frozen=True)
class Duty:
    """Omar is on duty and may break the glass; Priya reviews it."""

    cast: Cast

    def broken(self, approval: Approval, by: Any = None, **more: Any) -> Decided | Refused:
        how: dict[str, Any] = {"message": "The pumps stand still.", "assurance": FRESH} | more
        return say(approval, by or self.cast.omar, "override", **how)

    def load(self, **words: Any) -> None:
        policies.load(self.cast.northwind, document(**words), by="system")


@pytest.fixture
def duty(cast: Cast) -> Duty:
    for slug, person in (("duty", cast.omar), ("security", cast.priya)):
        people.grant(person, "decide", formed(cast.northwind, slug), by="system")
    made = Duty(cast)
    made.load()
    return made


@pytest.fixture
def later(db: None) -> Later:
    """Let the clock of this transaction stand so many seconds ahead."""
    return set_forward


def code(answer: Any) -> str:
    return answer.code if isinstance(answer, Refused) else ""


def cleared(approval: Approval) -> str:
    digest = approvals.current_revision(approval).digest
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def test_one_named_person_lets_a_call_go_alone(duty: Duty, heard: list[Resolution]) -> None:
    """AZ-16: through the same door, and proved at clearance like any yes."""
    approval = ask(duty.cast, refund())
    answer = duty.broken(approval)
    assert isinstance(answer, Decided) and answer.status == "approved" and heard[0].status == "approved"
    approval.refresh_from_db()
    assert approval.decided_by == duty.cast.omar and cleared(approval) == "cleared"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"message": ""}, "needs_message"),
        ({"assurance": CLICK}, "needs_assurance"),
        ({"assurance": Assurance("session", ("password",))}, "needs_assurance"),
        ({"digest": "0" * 64}, "wrong_digest"),
    ],
    ids=["no reason", "a click", "an old sign-in", "other bytes"],
)
def test_it_takes_a_reason_and_a_fresh_sign_in(duty: Duty, more: dict[str, Any], expected: str) -> None:
    """AZ-16."""
    approval = ask(duty.cast, refund())
    assert code(duty.broken(approval, **more)) == expected and cleared(approval) == "not_approved"
    assert not GlassReview.objects.exists()


def test_nobody_else_breaks_it_and_nobody_for_themselves(duty: Duty) -> None:
    """AZ-16, AZ-1."""
    approval = ask(duty.cast, refund())
    assert code(duty.broken(approval, duty.cast.dana)) == "not_allowed"
    assert code(duty.broken(ask(duty.cast, refund(), requester=duty.cast.omar))) == "self_review"


def test_where_the_rule_has_no_glass_nobody_breaks_any(cast: Cast) -> None:
    approval = ask(cast, refund())
    answer = say(approval, cast.dana, "override", message="Now.", assurance=FRESH)
    assert code(answer) == "decision_not_allowed"


def test_a_stop_holds_the_glass_as_well(duty: Duty) -> None:
    """HF-6: a stop is ended, not gone around."""
    approval = ask(duty.cast, refund())
    halts.begin(duty.cast.northwind, by=duty.cast.omar)
    assert code(duty.broken(approval)) == "halted"


def test_everybody_is_told_and_the_ledger_says_who_and_until_when(duty: Duty) -> None:
    """AZ-16: the chain of the run, that of the workspace, and a page for everybody."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    [said] = entries.read(duty.cast.northwind.pk, "workspace", only=["glass.broken"])
    assert (said["approval"], said["by"], said["team"]) == (
        approval.public_id,
        duty.cast.omar.public_id,
        "security",
    )
    run = [entry["kind"] for entry in entries.read(approval.workspace_id, approval.chain)]
    assert run[-2:] == ["decision.made", "approval.approved"]
    assert [one.broken_by for one in glass.unreviewed(duty.cast.northwind.pk)] == [duty.cast.omar]


def test_every_other_member_gets_a_letter(
    duty: Duty, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """AZ-16."""
    sent: list[tuple[list[str], str]] = []
    monkeypatch.setattr("approvals.letters._each", lambda to, subject, *rest: sent.append((to, subject)))
    monkeypatch.setattr("approvals.letters.Thread", Now)
    with django_capture_on_commit_callbacks(execute=True):
        duty.broken(ask(duty.cast, refund()))
    [(to, subject)] = sent
    assert subject == "Omar Haddad broke the glass"
    assert to == ["dana@northwind.example", "priya@northwind.example", "riley@northwind.example"]


class Now:
    """A thread that runs where it is started."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> None:
        self.target, self.args = target, args

    def start(self) -> None:
        self.target(*self.args)


def test_an_overdue_review_holds_the_next_one_back(duty: Duty, later: Later) -> None:
    """AZ-16."""
    first, second = ask(duty.cast, refund()), ask(duty.cast, refund())
    duty.broken(first)
    later(3700)
    assert code(duty.broken(second)) == "review_overdue"
    found = glass.review(duty.cast.northwind, first, by=duty.cast.priya, finding="right", note="The pumps stood.")
    assert found is None and isinstance(duty.broken(second), Decided)


def test_a_review_that_is_not_due_yet_holds_nothing_back(duty: Duty) -> None:
    first, second = ask(duty.cast, refund()), ask(duty.cast, refund())
    assert isinstance(duty.broken(first), Decided) and isinstance(duty.broken(second), Decided)


def test_who_takes_the_review_out_of_the_database_owes_it_still(duty: Duty, later: Later) -> None:
    """AZ-16, AU-4: what is due stands in the ledger."""
    first, second = ask(duty.cast, refund()), ask(duty.cast, refund())
    duty.broken(first)
    GlassReview.objects.all().delete()
    later(3700)
    assert code(duty.broken(second)) == "review_overdue"


@pytest.mark.parametrize(
    ("who", "finding", "note", "expected"),
    [
        ("omar", "right", "Fine.", "self_review"),
        ("dana", "right", "Fine.", "not_allowed"),
        ("priya", "perhaps", "Fine.", "unknown_finding"),
        ("priya", "wrong", " ", "needs_message"),
    ],
)
def test_only_the_reviewing_team_says_how_it_was(duty: Duty, who: str, finding: str, note: str, expected: str) -> None:
    """AZ-16."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    people.grant(duty.cast.omar, "decide", Team.objects.get(slug="security"), by="system")
    answer = glass.review(duty.cast.northwind, approval, by=getattr(duty.cast, who), finding=finding, note=note)
    assert code(answer) == expected and GlassReview.objects.get().finding == "open"


def test_what_was_found_is_said_once_and_sealed(duty: Duty) -> None:
    """AZ-16, AU-8."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    told: dict[str, Any] = {"by": duty.cast.priya, "note": "No pump stood still."}
    assert glass.review(duty.cast.northwind, approval, finding="wrong", **told) is None
    assert code(glass.review(duty.cast.northwind, approval, finding="right", **told)) == "too_late"
    found = GlassReview.objects.get()
    assert (found.finding, found.clear_note()) == ("wrong", told["note"]) and b"pump" not in bytes(found.note)
    [said] = entries.read(duty.cast.northwind.pk, "workspace", only=["glass.reviewed"])
    assert said["note_digest"] == canonical.sha256_hex(told["note"].encode())


def test_a_row_says_neither_who_broke_it_nor_who_reviews_it(duty: Duty) -> None:
    """AZ-16, AU-4: Omar broke it, and writes that Riley did and that his own team looks at it."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    GlassReview.objects.update(broken_by=duty.cast.riley, team="duty")
    answer = glass.review(duty.cast.northwind, approval, by=duty.cast.omar, finding="right", note="It was fine.")
    assert code(answer) == "self_review"
    [said] = glass.unexplained(duty.cast.northwind.pk)
    assert said == f"the review of the broken glass of {approval.public_id} says otherwise than the ledger."


def test_a_finding_that_was_turned_round_is_named(duty: Duty) -> None:
    """AZ-16, AU-4."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    glass.review(duty.cast.northwind, approval, by=duty.cast.priya, finding="wrong", note="Not at all.")
    assert glass.unexplained(duty.cast.northwind.pk) == []
    GlassReview.objects.update(finding="right", reviewed_by=duty.cast.dana)
    assert "says otherwise than the ledger" in glass.unexplained(duty.cast.northwind.pk)[0]


def test_a_right_written_past_placet_neither_breaks_the_glass_nor_reviews_it(duty: Duty) -> None:
    """AZ-4, AZ-16: the entry it would beget is one that everybody believes."""
    approval = ask(duty.cast, refund())
    for slug in ("duty", "security"):
        assign_perm("decide", duty.cast.dana, Team.objects.get(slug=slug))
    assert code(duty.broken(approval, duty.cast.dana)) == "not_allowed"
    duty.broken(approval)
    answer = glass.review(duty.cast.northwind, approval, by=duty.cast.dana, finding="right", note="It was fine.")
    assert code(answer) == "not_allowed"


def test_an_editor_who_may_not_approve_does_not_let_their_own_edit_go_alone(duty: Duty) -> None:
    """AZ-5, AZ-16: the glass goes around the missing votes, and around nothing else."""
    people.grant(duty.cast.omar, "decide", duty.cast.finance, by="system")
    duty.load(editor_may_approve=False, editable=["/amount"])
    approval = ask(duty.cast, refund())
    assert isinstance(say(approval, duty.cast.omar, "edit", edited=refund(90_000)), Decided)
    assert code(duty.broken(approval)) == "self_review"


def test_a_rehearsal_is_told_of_as_one_and_bars_no_real_emergency(
    duty: Duty, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AZ-16."""
    told: list[Any] = []
    monkeypatch.setattr("approvals.letters.tell_all", lambda *letter: told.append(letter))
    duty.broken(ask(duty.cast, refund(), rehearsal=True))
    assert told[0][1] == "Rehearsal: Omar Haddad broke the glass" and told[0][3]["rehearsal"]
    later(7200)
    assert isinstance(duty.broken(ask(duty.cast, refund())), Decided)


def test_who_breaks_the_glass_is_counted_and_what_was_found_is_erased_with_the_run(duty: Duty) -> None:
    """HF-4, AU-8."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    habits = oversight.report(duty.cast.northwind.pk, timedelta(hours=1)).of("person")
    assert [(one.decisions, one.yeses) for one in habits] == [(1, 1)]
    glass.review(duty.cast.northwind, approval, by=duty.cast.priya, finding="right", note="Mrs Miller was owed it.")
    with rows.within(duty.cast.northwind):
        erasure.erase(duty.cast.northwind.pk, approval.chain)
    assert bytes(GlassReview.objects.get().note) == b""


# What clearance believes


def test_who_lost_the_right_meanwhile_lets_nothing_go(duty: Duty) -> None:
    """AZ-1, AZ-16."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    people.revoke(duty.cast.omar, "decide", Team.objects.get(slug="duty"), by="system")
    assert cleared(approval) == "votes_fall_short"


def test_a_rule_of_today_without_the_glass_asks_again(duty: Duty) -> None:
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    duty.load(break_glass={"team": "security", "review": {"team": "finance"}})
    assert cleared(approval) == "votes_fall_short"


def test_an_override_written_past_placet_makes_no_old_yes_young(duty: Duty, later: Later) -> None:
    """AZ-13, AU-2: a yes is good for ten minutes, and an hour later there is a row that nobody signed."""
    duty.load(approvals=[{"team": "finance"}], valid_for="10m")
    approval = ask(duty.cast, refund())
    assert isinstance(say(approval, duty.cast.dana, "approve"), Decided)
    later(3600)
    forged = Decision.objects.get(approval=approval)
    forged.pk, forged.verdict, forged.turn, forged.mac = rows.uuid7(), "override", 2, b"\0" * 34
    forged.decided_at = rows.now()
    forged.save(force_insert=True)
    assert cleared(approval) == "tampered"


def test_a_decision_written_past_placet_breaks_no_glass(duty: Duty) -> None:
    """AU-2, AZ-16."""
    approval = ask(duty.cast, refund())
    revision = approvals.current_revision(approval)
    forged = Decision(workspace=duty.cast.northwind, approval=approval, revision=1, person=duty.cast.omar, turn=1)
    forged.verdict, forged.digest, forged.message, forged.message_digest = "override", revision.digest, b"", ""
    forged.assurance, forged.decided_via, forged.decided_at = "fresh", "web", rows.now()
    forged.mac = bytes(revision.ruling.mac)
    forged.save(force_insert=True)
    Approval.objects.update(status="approved")
    assert cleared(approval) == "tampered"


def test_a_vote_moved_from_where_it_was_given_breaks_no_glass(duty: Duty, monkeypatch: pytest.MonkeyPatch) -> None:
    """AU-4, AZ-16: a signed decision that the workspace's ledger does not tell of counts for nothing."""
    approval = ask(duty.cast, refund())
    append = entries.append
    untold = lambda *said, by: None if said[2] == "glass.broken" else append(*said, by=by)  # noqa: E731
    monkeypatch.setattr("approvals.glass.entries.append", untold)
    duty.broken(approval)
    assert cleared(approval) == "votes_fall_short"


# The word in a policy


@pytest.mark.parametrize(
    ("words", "pointer"),
    [
        ({"break_glass": {"team": "duty"}}, "/rules/0/break_glass/review"),
        ({"break_glass": GLASS | {"team": "nobody"}}, "/rules/0/break_glass/team"),
        ({"break_glass": GLASS | {"review": {"team": "nobody"}}}, "/rules/0/break_glass/review/team"),
        ({"break_glass": GLASS | {"review": {"team": "duty", "within": "soon"}}}, "/rules/0/break_glass/review/within"),
        ({"match": {"kind": "budget"}}, "/rules/0/break_glass"),
    ],
    ids=["no review", "no team", "no reviewers", "no time", "no call"],
)
def test_a_glass_that_nobody_could_break_or_review_is_refused(duty: Duty, words: Any, pointer: str) -> None:
    """AZ-3, AZ-16."""
    with pytest.raises(PolicyFault) as refused:
        duty.load(**words)
    assert refused.value.pointer.startswith(pointer)


def test_where_two_people_are_the_least_nobody_goes_alone(duty: Duty) -> None:
    """HF-8, AZ-16."""
    document_ = canonical.parse(document(risk="high")) | {"at_least": {"high": 2}}
    with pytest.raises(PolicyFault, match="alone"):
        policies.load(duty.cast.northwind, canonical.encode(document_), by="system")


def test_the_stricter_of_two_rules_has_a_glass_only_where_both_have_the_same() -> None:
    """AZ-16: an edit never opens a way around the votes."""
    rule = policies.read_document(document())["rules"][0]
    bare = {name: said for name, said in rule.items() if name != "break_glass"}
    sooner = rule | {"break_glass": GLASS | {"review": {"team": "security", "within": 60}}}
    other = rule | {"break_glass": GLASS | {"team": "finance", "review": {"team": "security", "within": 60}}}
    assert "break_glass" not in bars.stricter(rule, bare) and "break_glass" not in bars.stricter(bare, rule)
    assert bars.stricter(rule, sooner)["break_glass"]["review"]["within"] == 60
    assert "break_glass" not in bars.stricter(rule, other)


def _command(*words: str) -> str:
    out = StringIO()
    call_command("glass", *words, "--workspace", "northwind", stdout=out)
    return out.getvalue()


def test_the_command_lists_what_is_to_be_reviewed_and_takes_the_finding(duty: Duty) -> None:
    """AZ-16: the same door as the page's, for somebody of the reviewing team."""
    approval = ask(duty.cast, refund())
    assert "Nothing is to be reviewed" in _command("list")
    duty.broken(approval)
    assert approval.public_id in _command("list") and "by security  Omar Haddad" in _command("list")
    told = _command("review", approval.public_id, "wrong", "--note", "They did not stand still.", "--as", PRIYA)
    assert told == "Reviewed: it was wrong.\n" and GlassReview.objects.get().finding == "wrong"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("right", "--note", "Fine.", "--as", "omar@northwind.example"), "somebody else must look at it"),
        (("right", "--note", "Fine.", "--as", "dana@northwind.example"), "Only Security may review this"),
        (("right", "--note", " ", "--as", PRIYA), "Say what you found"),
        (("right", "--note", "Fine.", "--as", "nobody@northwind.example"), "nobody with the address"),
    ],
    ids=["who broke it", "another team", "no words", "nobody"],
)
def test_the_command_takes_no_finding_that_the_page_would_not(duty: Duty, words: tuple[str, ...], told: str) -> None:
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    with pytest.raises(CommandError, match=told):
        _command("review", approval.public_id, *words)
    assert GlassReview.objects.get().finding == "open"
