"""Absences: seats that are lent for a time, who may take them, and what both names are good for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import absences, approvals, departures, deputies, explaining, gate, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused, standing
from approvals.deputies import Absence
from approvals.ledger import entries
from approvals.pages.reader import waiting
from approvals.people import Person
from tests.cast import POLICY, Cast, ask, formed, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def lend(cast: Cast, lender: Person, deputy: Person | None, **more: Any) -> Absence:
    """Lend seats for a day, beginning now unless told otherwise."""
    made = absent(cast, lender, deputy=deputy, **more)
    assert isinstance(made, Absence), made
    return made


def absent(cast: Cast, lender: Person, **more: Any) -> Absence | Refused:
    facts: dict[str, Any] = {"kind": "delegation", "ends_at": rows.now() + timedelta(days=1), "by": lender} | more
    return absences.announce(cast.northwind, lender, **facts)


def said(answer: Decided | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else answer.status


def cleared(approval: Approval) -> str:
    digest = approvals.current_revision(Approval.objects.get(pk=approval.pk)).digest
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def test_a_deputy_decides_what_already_waits_and_both_names_are_kept(cast: Cast) -> None:
    """AZ-8: in the signed row, in the ledger, and on the page."""
    approval = ask(cast, refund())
    assert said(say(approval, cast.omar, "approve")) == "not_allowed"
    absence = lend(cast, cast.dana, cast.omar)
    assert standing(approval, cast.omar).in_place_of == "Dana Okafor"
    assert said(say(approval, cast.omar, "approve")) == "approved"
    vote = Decision.objects.get()
    assert (vote.person, vote.in_place_of) == (cast.omar, cast.dana) and vote.holds()
    told = next(one for one in entries.read(cast.northwind.pk, approval.chain) if one["kind"] == "decision.made")
    assert (told["by"], told["in_place_of"]) == (cast.omar.public_id, cast.dana.public_id)
    assert told["absence"] == absence.public_id and cleared(approval) == "cleared"


def test_lender_and_deputy_fill_one_seat_together(cast: Cast) -> None:
    """AZ-4, AZ-8: whichever of the two came first."""
    lend(cast, cast.dana, cast.omar)
    one, other = ask(cast, refund(200_000)), ask(cast, refund(200_000))
    assert said(say(one, cast.dana, "approve")) == "pending"
    assert said(say(one, cast.omar, "approve")) == "seat_taken"
    assert said(say(other, cast.omar, "approve")) == "pending"
    assert said(say(other, cast.dana, "approve")) == "pending"
    assert said(say(other, cast.priya, "approve")) == "approved" and cleared(other) == "cleared"


def test_two_deputies_of_one_lender_fill_one_seat(cast: Cast) -> None:
    """AZ-4, AZ-8."""
    people.grant(cast.omar, "decide", cast.finance, by="system")
    for deputy in (cast.riley, cast.priya):
        lend(cast, cast.omar, deputy)
    approval = ask(cast, refund(200_000), requester=cast.dana)
    assert said(say(approval, cast.riley, "approve")) == "pending"
    assert said(say(approval, cast.priya, "approve")) == "approved", "in her own right"
    assert Decision.objects.get(person=cast.priya).in_place_of is None


def test_a_deputy_with_two_rights_has_one_vote(cast: Cast) -> None:
    """AZ-4: a person fills one seat, by their own right or in another's place."""
    lend(cast, cast.dana, cast.priya)
    approval = ask(cast, refund(200_000))
    assert said(say(approval, cast.priya, "approve")) == "pending"
    assert said(say(approval, cast.priya, "approve")) == "already_voted"


def test_no_seat_is_lent_to_the_one_for_whom_the_agent_asks_nor_by_them(cast: Cast) -> None:
    """AZ-2, AZ-8: whatever the rule says of self review."""
    policies.load(
        cast.northwind, POLICY.replace("deadline: 1h", "deadline: 1h\n    prevent_self_review: false"), by="s"
    )
    lend(cast, cast.dana, cast.riley)
    lend(cast, cast.dana, cast.omar)
    own, of_lender = ask(cast, refund(), requester=cast.riley), ask(cast, refund(), requester=cast.dana)
    assert said(say(own, cast.riley, "approve")) == said(say(own, cast.riley, "reject", message="No.")) == "not_allowed"
    assert said(say(of_lender, cast.omar, "approve")) == "not_allowed"
    assert [waiting(cast.northwind, person) for person in (cast.riley, cast.omar)] == ["", "1"]


def test_a_seat_that_was_lent_is_not_lent_on(cast: Cast) -> None:
    """AZ-8, CH-B115: neither along a chain nor around a circle."""
    lend(cast, cast.dana, cast.omar)
    refused = absent(cast, cast.omar, deputy=cast.riley)
    assert isinstance(refused, Refused) and refused.code == "not_held"
    people.grant(cast.omar, "decide", cast.finance, by="system")
    lend(cast, cast.omar, cast.riley)
    people.revoke(cast.omar, "decide", cast.finance, by="system")
    assert said(say(ask(cast, refund(), requester=cast.priya), cast.riley, "approve")) == "not_allowed"


def test_an_editor_is_barred_in_the_place_of_another_too(cast: Cast) -> None:
    """AZ-2: neither the editor as a deputy, nor a deputy of the editor."""
    text = POLICY.replace("editor_may_approve: true", "editor_may_approve: false")
    people.grant(cast.omar, "decide", cast.finance, by="system")
    policies.load(cast.northwind, text, by="system")
    approval = ask(cast, refund(200_000))
    lend(cast, cast.dana, cast.omar)
    assert said(say(approval, cast.dana, "edit", edited=refund(190_000))) == "pending"
    assert said(say(approval, cast.priya, "approve")) == "pending"
    assert said(say(approval, cast.omar, "approve")) == "approved", "in his own right"


def test_a_lent_seat_begins_and_ends_with_its_dates(cast: Cast, later: Any) -> None:
    """AZ-8: before, within and after."""
    begins = rows.now() + timedelta(minutes=10)
    lend(cast, cast.dana, cast.omar, starts_at=begins, ends_at=begins + timedelta(minutes=10))
    approval = ask(cast, refund())
    told = []
    for hours in (0, 0.25, 0.5):
        later(hours)
        told.append(standing(approval, cast.omar).may)
    assert told == [False, True, False]


@pytest.mark.parametrize("how", ["ended", "expired", "lender_lost", "lender_left", "deputy_off"])
def test_a_vote_in_anothers_place_counts_as_long_as_the_seat_is_lent(cast: Cast, later: Any, how: str) -> None:
    """AZ-7, AZ-8, CH-B94: at the quorum and again when the call is to be sent."""
    absence = lend(cast, cast.dana, cast.omar, ends_at=rows.now() + timedelta(minutes=30))
    sent, open_still = ask(cast, refund()), ask(cast, refund(200_000))
    assert [said(say(one, cast.omar, "approve")) for one in (sent, open_still)] == ["approved", "pending"]
    assert cleared(sent) == "cleared"
    ways: dict[str, Callable[[], Any]] = {
        "ended": lambda: absences.end(absence, cast.northwind, by=cast.dana),
        "expired": lambda: later(0.6),
        "lender_lost": lambda: people.revoke(cast.dana, "decide", cast.finance, by="system"),
        "lender_left": lambda: people.leave(cast.dana, cast.northwind, by="system"),
        "deputy_off": lambda: departures.deactivate(cast.omar, by="system"),
    }
    ways[how]()
    assert cleared(sent) == "votes_fall_short"
    if how == "ended":
        lend(cast, cast.dana, cast.omar)
        assert cleared(sent) == "votes_fall_short", "what is lent anew revives no vote"
    assert said(say(open_still, cast.priya, "approve")) == "pending"


def test_only_the_seats_that_are_named_are_lent(cast: Cast) -> None:
    """AZ-8: for a purpose."""
    legal = formed(cast.northwind, "legal")
    people.grant(cast.dana, "decide", legal, by="system")
    lend(cast, cast.dana, cast.omar, teams=["legal"])
    assert said(say(ask(cast, refund()), cast.omar, "approve")) == "not_allowed"
    refused = absent(cast, cast.priya, deputy=cast.omar, teams=["legal"])
    assert isinstance(refused, Refused) and refused.code == "not_held" and "legal" in refused.message


def test_what_is_no_absence_is_refused(cast: Cast) -> None:
    """AZ-8: bounded in time and number, to a named member, by the person or an administrator."""
    now, day = rows.now(), timedelta(days=1)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("ends_first", {"ends_at": now}),
        ("too_long", {"ends_at": now + 91 * day}),
        ("too_far", {"starts_at": now + 400 * day, "ends_at": now + 401 * day}),
        ("needs_deputy", {"deputy": None}),
        ("own_deputy", {"deputy": cast.dana}),
        ("no_member", {"deputy": cast.oskar}),
        ("not_allowed", {"by": cast.priya}),
    ]
    for code, more in wrong:
        answer = absent(cast, cast.dana, **({"deputy": cast.omar} | more))
        assert isinstance(answer, Refused) and answer.code == code
    assert isinstance(absent(cast, cast.dana, deputy=None, kind="out_of_office", by=cast.omar), Absence)
    for _ in range(absences.AT_ONCE - 1):
        lend(cast, cast.dana, cast.omar)
    full = absent(cast, cast.dana, deputy=cast.omar)
    assert isinstance(full, Refused) and full.code == "too_many"


def test_who_leaves_lends_nothing_and_takes_nobodys_place(cast: Cast) -> None:
    """AZ-17: coming back revives no delegation."""
    lend(cast, cast.dana, cast.omar)
    lend(cast, cast.priya, cast.dana)
    departures.deactivate(cast.dana, by="system")
    departures.reactivate(cast.dana, by="system")
    assert not absences.standing(cast.northwind) and not deputies.unexplained(cast.northwind.pk)


def test_an_absence_written_past_placet_opens_nothing(cast: Cast) -> None:
    """AZ-8: with another deputy, another end, or put back after it ended."""
    absence = lend(cast, cast.dana, cast.riley)
    Absence.objects.update(deputy=cast.omar)
    approval = ask(cast, refund(), requester=cast.priya)
    assert said(say(approval, cast.omar, "approve")) == "not_allowed"
    Absence.objects.update(deputy=cast.riley)
    absences.end(absence, cast.northwind, by=None)
    Absence.objects.update(ended_at=None)
    assert deputies.unexplained(cast.northwind.pk) == [f"No entry announced {absence.public_id} as it stands."]
    assert said(say(approval, cast.riley, "approve")) == "tampered"


def test_in_whose_place_somebody_spoke_is_signed(cast: Cast) -> None:
    """AZ-8: the name cannot be taken off or changed."""
    lend(cast, cast.dana, cast.omar)
    approval = ask(cast, refund())
    say(approval, cast.omar, "approve")
    for lender in (None, cast.priya):
        vote = Decision.objects.get()
        vote.in_place_of = lender
        assert not vote.holds()


def test_who_can_names_deputies_and_for_whom(cast: Cast) -> None:
    """AZ-8: and says that a lender has spoken for both."""
    lend(cast, cast.dana, cast.omar)
    approval = ask(cast, refund(200_000))
    told = {one.person: one for one in explaining.explain(approval).people}
    assert told[cast.omar].seats == ("Finance for Dana Okafor",) and not told[cast.omar].cannot
    assert told[cast.dana].seats == ("Finance",) and explaining.yours(approval, cast.omar).may == [
        "approve",
        "edit",
        "reject",
    ]
    say(approval, cast.dana, "approve")
    told = {one.person: one for one in explaining.explain(approval).people}
    assert told[cast.omar].cannot == "takes a seat that has given its yes"


def test_the_command_announces_lists_and_ends(cast: Cast) -> None:
    told = StringIO()
    until = f"{rows.now() + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
    given = ["add", cast.dana.email, "--until", until, "--deputy", cast.omar.email, "--workspace", "northwind"]
    call_command("absences", *given, "--as", cast.dana.email, stdout=told)
    name = told.getvalue().strip()
    call_command("absences", "list", "--workspace", "northwind", stdout=told)
    assert f"{cast.dana.email} is away every seat to {cast.omar.email}" in told.getvalue()
    with pytest.raises(CommandError, match="Only the person"):
        call_command("absences", "end", name, "--as", cast.priya.email, "--workspace", "northwind")
    call_command("absences", "end", name, "--workspace", "northwind")
    assert not absences.standing(cast.northwind)
    with pytest.raises(CommandError, match="ended already"):
        call_command("absences", "end", name, "--workspace", "northwind")


def test_a_lender_who_takes_the_vote_back_leaves_the_seat_to_the_deputy(cast: Cast) -> None:
    """AZ-8: at the click and at dispatch alike."""
    lend(cast, cast.dana, cast.omar)
    first, last = ask(cast, refund(200_000)), ask(cast, refund(200_000))
    for approval in (first, last):
        say(approval, cast.dana, "approve")
        say(approval, cast.dana, "retract")
    for approval, order in ((first, [cast.omar, cast.priya]), (last, [cast.priya, cast.omar])):
        assert [said(say(approval, person, "approve")) for person in order] == ["pending", "approved"]
        assert cleared(approval) == "cleared"


def test_nobody_else_lends_a_seat_past_the_rule_for_its_people(cast: Cast) -> None:
    """AZ-2, AZ-9: an administrator would put whom they like in a team; its holder may lend a seat, and to its own
    people anybody may."""
    guarded = "\n  - {id: changes, match: {kind: change}, verdict: require_approval, approvals: [{team: finance}]}\n"
    policies.load(cast.northwind, POLICY + guarded, by="system")
    for by in (cast.omar, None):
        refused = absent(cast, cast.dana, deputy=cast.omar, by=by)
        assert isinstance(refused, Refused) and refused.code == "needs_approval"
    assert said(say(ask(cast, refund()), cast.omar, "approve")) == "not_allowed"
    lend(cast, cast.dana, cast.priya, by=cast.omar)
    lend(cast, cast.dana, cast.omar)


def test_what_somebody_else_lends_is_what_is_held_then(cast: Cast) -> None:
    """AZ-2: a seat that comes later is its holder's to lend."""
    assert lend(cast, cast.dana, cast.riley, by=cast.omar).teams == ["finance"]
    assert lend(cast, cast.dana, cast.riley).teams == []


@pytest.mark.committed
def test_of_many_absences_at_once_no_more_stand_than_may(cast: Cast, together: Callable[..., list[Any]]) -> None:
    away = partial(absent, cast, cast.dana, deputy=None, kind="out_of_office")
    for _ in range(absences.AT_ONCE - 1):
        assert isinstance(away(), Absence)
    told = together(*[away] * 3)
    assert sorted(getattr(one, "code", "") for one in told) == ["", "too_many", "too_many"]


def test_a_seat_that_its_holder_lost_since_has_to_be_lent_anew(cast: Cast) -> None:
    """AZ-8: the right was taken away and given again; what was lent before is over."""
    approval = ask(cast, refund())
    lend(cast, cast.dana, cast.omar)
    assert standing(approval, cast.omar).may
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    people.grant(cast.dana, "decide", cast.finance, by="system")
    assert said(say(approval, cast.omar, "approve")) == "not_allowed"
    assert deputies.lent_seats(cast.northwind.pk, cast.omar) == {cast.dana.pk: set()}
    lend(cast, cast.dana, cast.omar)
    assert said(say(approval, cast.omar, "approve")) == "approved" and cleared(approval) == "cleared"
