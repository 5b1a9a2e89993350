"""Changes of the policy, and of who decides for a team, that people have to approve first."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from approvals import absences, changes, departures, evidence, gate, invitations, people, policies, rows, vouched
from approvals import cast as casting
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import canonical, entries
from approvals.people import Person
from approvals.policies import NeedsApproval, Policy, PolicyFault, read_document
from runtime.children import until
from tests.approvals.pages.conftest import at
from tests.approvals.pages.conftest import reads as reads
from tests.cast import POLICY, Cast, propose, refund, say

RULE = """
  - id: changes
    match: {kind: change}
    verdict: require_approval
    approvals: [{team: finance}]
"""
GUARDED = POLICY + RULE


@pytest.fixture
def guarded(cast: Cast) -> Cast:
    """Northwind, whose policy wants every change approved by Finance."""
    policies.load(cast.northwind, GUARDED, by="system")
    return cast


def version(cast: Cast) -> int:
    return policies.current_version(cast.northwind.pk)


def wants(cast: Cast, text: str = POLICY, by: Person | None = None) -> Approval:
    """Somebody asks for a policy to come into force."""
    change = changes.of_policy(cast.northwind, read_document(text))
    approval = changes.propose(cast.northwind, change, by=by or cast.omar, reason="It is in the way.")
    assert isinstance(approval, Approval), approval.message
    return approval


def joining(cast: Cast, by: Person | None = None) -> Approval:
    """Somebody asks that Riley decides for Finance."""
    change = changes.of_team(cast.finance, joining=cast.riley)
    approval = changes.propose(cast.northwind, change, by=by or cast.omar)
    assert isinstance(approval, Approval), approval.message
    return approval


def outcome(approval: Approval) -> tuple[str, str, str]:
    approval.refresh_from_db()
    return approval.status, approval.outcome, approval.outcome_note


def test_a_policy_is_not_lowered_by_one_person(guarded: Cast) -> None:
    """AZ-9: an administrator who takes the rule away has to ask like everybody else."""
    with pytest.raises(NeedsApproval, match="rule changes says so"):
        policies.load(guarded.northwind, POLICY, by=guarded.omar.public_id, author=guarded.omar)
    assert version(guarded) == 2
    assert policies.load(guarded.northwind, GUARDED, by="system").version == 2, "what says the same is no change"


def test_what_people_approved_is_in_force_by_the_same_commit(guarded: Cast) -> None:
    """The bytes are the document; who wanted it is its author."""
    approval = wants(guarded)
    assert isinstance(answer := say(approval, guarded.dana, "approve"), Decided) and answer.status == "approved"
    policy = policies.current(guarded.northwind.pk)
    assert policy and (policy.version, policy.author) == (3, guarded.omar)
    assert policy.contents == read_document(POLICY) and outcome(approval) == ("approved", "executed", "")
    kinds = [entry["kind"] for entry in entries.read(guarded.northwind.pk, "workspace")][-4:]
    assert sorted(kinds) == ["approval.approved", "decision.made", "outcome.reported", "policy.loaded"]


@pytest.mark.parametrize("verdict", ["edit", "respond", "choose", "stop"])
def test_a_change_is_approved_or_rejected_and_nothing_else(guarded: Cast, verdict: str) -> None:
    approval = wants(guarded)
    answer = say(approval, guarded.dana, verdict, edited={}, response=b"{}", choice="yes")
    assert isinstance(answer, Refused) and version(guarded) == 2


def test_a_rejected_change_changes_nothing(guarded: Cast) -> None:
    approval = wants(guarded)
    say(approval, guarded.dana, "reject", message="Not in December.")
    assert (outcome(approval)[:2], version(guarded)) == (("rejected", "none"), 2)


def test_whoever_wants_a_change_does_not_approve_it(guarded: Cast) -> None:
    """AZ-2: also where they decide for the team that is asked."""
    answer = say(wants(guarded, by=guarded.dana), guarded.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "self_review" and version(guarded) == 2


def test_a_change_that_no_longer_fits_says_so_and_changes_nothing(guarded: Cast) -> None:
    """Another version came into force: what people compared it with is gone."""
    approval = wants(guarded)
    with rows.within(guarded.northwind):
        policies.put_in_force(
            guarded.northwind, read_document(GUARDED + RULE.replace("changes", "more")), by="s", author=None
        )
    say(approval, guarded.dana, "approve")
    status, became, note = outcome(approval)
    assert (status, became, version(guarded)) == ("approved", "failed", 3) and "Another version" in note


def test_nobody_decides_for_a_team_before_people_approved_it(guarded: Cast) -> None:
    """AZ-9, AZ-10: the right is given by the last yes, and the ledger explains it."""
    with pytest.raises(NeedsApproval):
        people.grant(guarded.riley, "decide", guarded.finance, by=guarded.omar.public_id)
    approval = joining(guarded)
    assert guarded.riley not in people.deciders(guarded.finance)
    say(approval, guarded.dana, "approve")
    assert guarded.riley in people.deciders(guarded.finance) and outcome(approval)[1] == "executed"
    assert vouched.unexplained(guarded.northwind.pk) == []


def test_a_right_is_taken_away_at_once(guarded: Cast) -> None:
    """Nobody is asked before somebody loses a right; what was asked for the larger team no longer fits."""
    approval = joining(guarded)
    people.revoke(guarded.priya, "decide", guarded.finance, by="system")
    say(approval, guarded.dana, "approve")
    assert outcome(approval)[1] == "failed" and people.deciders(guarded.finance) == [guarded.dana]


def test_who_left_meanwhile_gets_no_right(guarded: Cast) -> None:
    approval = joining(guarded)
    people.leave(guarded.riley, guarded.northwind, by="system")
    say(approval, guarded.dana, "approve")
    assert outcome(approval)[1] == "failed" and guarded.riley not in people.deciders(guarded.finance)


def test_no_other_door_leads_into_a_guarded_team(guarded: Cast) -> None:
    """AZ-2: neither an invitation nor a file of people, nor a seat that somebody else lends than who holds it."""
    invited = invitations.invite(guarded.northwind, "new@northwind.example", teams=["finance"], by=guarded.omar)
    assert isinstance(invited, Refused) and invited.code == "needs_approval"
    riley = {"email": guarded.riley.email, "name": guarded.riley.name}
    team = {"slug": "finance", "name": "Finance", "deciders": [guarded.riley.email]}
    home = {"slug": "northwind", "name": "Northwind refunds", "members": [guarded.riley.email], "teams": [team]}
    until = rows.now() + timedelta(days=1)
    seat: dict[str, Any] = {"kind": "delegation", "ends_at": until, "deputy": guarded.omar}
    lent = absences.announce(guarded.northwind, guarded.dana, by=guarded.omar, **seat)
    assert isinstance(lent, Refused) and lent.code == "needs_approval"
    assert not isinstance(absences.announce(guarded.northwind, guarded.dana, by=guarded.dana, **seat), Refused)
    with pytest.raises(casting.CastFault, match="people grant"):
        casting.load({"people": [riley], "workspaces": [home]}, passwords={}, by="system")
    assert guarded.riley not in people.deciders(guarded.finance)


def test_an_invitation_from_before_the_rule_opens_no_team(cast: Cast) -> None:
    made = invitations.invite(cast.northwind, "new@northwind.example", teams=["finance"], by=cast.omar)
    assert not isinstance(made, Refused)
    policies.load(cast.northwind, GUARDED, by="system")
    welcome = invitations.open_with(made[1])
    assert welcome is not None
    refused = invitations.accept_as_new(welcome, name="New One", password="correct horse battery staple")
    assert isinstance(refused, Refused) and refused.code == "no_longer"
    assert not Person.objects.filter(email="new@northwind.example").exists()


def test_a_forged_version_takes_no_rule_away(guarded: Cast) -> None:
    """AU-2: the last version that is as it was saved says whether people are asked."""
    body = canonical.encode(read_document(POLICY))
    forged = Policy(workspace=guarded.northwind, version=9, document=body, mac=guarded.policy.mac)
    forged.digest = canonical.sha256_hex(body)
    forged.save(force_insert=True)
    with pytest.raises(NeedsApproval):
        policies.load(guarded.northwind, POLICY, by="system")


def test_a_vote_that_was_written_past_placet_puts_nothing_in_force(cast: Cast) -> None:
    """AU-2, AZ-4: two have to say yes, one does, and the other yes is a row in the database."""
    policies.load(
        cast.northwind, GUARDED.replace(RULE, RULE.replace("{team: finance}", "{team: finance, count: 2}")), by="s"
    )
    approval = wants(cast)
    say(approval, cast.dana, "approve")
    forged = Decision.objects.get(approval=approval)
    forged.pk, forged.person = rows.uuid7(), cast.priya
    forged.save(force_insert=True)
    Approval.objects.filter(pk=approval.pk).update(status="approved")
    assert isinstance(say(approval, cast.priya, "approve"), Refused)
    assert version(cast) == 2


def test_a_yes_is_taken_back_before_the_last_one(cast: Cast) -> None:
    """AZ-4: as of any other approval."""
    policies.load(
        cast.northwind, GUARDED.replace(RULE, RULE.replace("{team: finance}", "{team: finance, count: 2}")), by="s"
    )
    approval = wants(cast)
    say(approval, cast.dana, "approve")
    assert not isinstance(say(approval, cast.dana, "retract"), Refused)
    say(approval, cast.priya, "approve")
    assert (outcome(approval)[0], version(cast)) == ("pending", 2)


def test_one_change_of_a_thing_waits_at_a_time(guarded: Cast) -> None:
    first = wants(guarded)
    again = changes.propose(
        guarded.northwind, changes.of_policy(guarded.northwind, read_document(POLICY)), by=guarded.omar
    )
    assert isinstance(again, Refused) and again.code == "waits_already" and first.public_id in again.message
    joining(guarded)
    assert len(changes.waiting(guarded.northwind.pk)) == 2


def test_nobody_is_asked_where_nobody_could_approve(cast: Cast) -> None:
    """AZ-3: Priya left, and Dana wants it herself."""
    policies.load(cast.northwind, GUARDED, by="system")
    people.revoke(cast.priya, "decide", cast.finance, by="system")
    change = changes.of_policy(cast.northwind, read_document(POLICY))
    answer = changes.propose(cast.northwind, change, by=cast.dana)
    assert isinstance(answer, Refused) and answer.code == "unsatisfiable"


def test_only_who_asked_and_administrators_withdraw_it(guarded: Cast) -> None:
    approval = wants(guarded, by=guarded.dana)
    refused = changes.withdraw(guarded.northwind, approval, by=guarded.priya)
    assert isinstance(refused, Refused) and refused.code == "not_allowed"
    assert changes.withdraw(guarded.northwind, approval, by=guarded.dana) is None
    assert outcome(approval)[0] == "cancelled" and changes.waiting(guarded.northwind.pk) == []
    later = wants(guarded)
    refused = changes.withdraw(guarded.northwind, approval, by=guarded.dana)
    assert isinstance(refused, Refused) and refused.code == "too_late" and outcome(later)[0] == "pending"


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"on_deadline": "cancel_run"}, "on_deadline"),
        ({"editable": ["/a"]}, "editable"),
        ({"hold_after": 5}, "hold_after"),
        ({"match": {"kind": "change", "tool": "change.teams"}}, "match/tool"),
        ({"match": {"kind": "change", "agent": "desk"}}, "match/agent"),
        ({"match": {"kind": ["change", "budget"]}}, "match/kind"),
    ],
)
def test_a_rule_for_changes_says_nothing_that_would_mean_nothing(more: dict[str, Any], pointer: str) -> None:
    rule = {"id": "r", "match": {"kind": "change"}, "verdict": "require_approval", "approvals": [{"team": "finance"}]}
    assert read_document(canonical.encode({"policy": 1, "rules": [rule]}))["rules"][0]["prevent_self_review"] is True
    with pytest.raises(PolicyFault) as caught:
        read_document(canonical.encode({"policy": 1, "rules": [rule | more]}))
    assert caught.value.pointer == f"/rules/0/{pointer}"


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, "--workspace", "northwind", stdout=out)
    return out.getvalue()


def test_the_commands_ask_instead_of_changing(guarded: Cast, tmp_path: Path) -> None:
    file = tmp_path / "next.yaml"
    file.write_text(POLICY)
    with pytest.raises(CommandError, match="Say who wants it: --by EMAIL"):
        run("policy", "load", str(file))
    told = run("policy", "load", str(file), "--by", guarded.omar.email, "--reason", "Spring cleaning")
    assert told.startswith("Nothing has changed yet: apr_") and version(guarded) == 2
    told = run("people", "grant", guarded.riley.email, "decide", "team:finance", "--as", guarded.omar.email)
    assert told.startswith("Nothing has changed yet: apr_")
    policy, team = run("changes", "list").splitlines()
    assert policy.endswith("Omar Haddad  Policy of Northwind refunds, version 3")
    assert team.endswith("Omar Haddad  Who decides for Finance")
    run("changes", "withdraw", team.split()[0], "--as", guarded.omar.email)
    assert run("changes", "list").splitlines() == [policy]


def test_the_page_says_what_changes_and_who_wants_it(guarded: Cast, reads: Any) -> None:
    """RN-15: beside the whole document, each difference from what is in force."""
    approval = wants(guarded, GUARDED.replace("maximum: 5000", "maximum: 9000"))
    html = reads(guarded.dana).get(at(approval)).content.decode()
    assert "rule small-refunds /match/when/properties/amount/maximum: 5000 -&gt; 9000" in html
    assert "Approve the change" in html and "It is in the way." in html and "Omar" in html
    say(approval, guarded.dana, "approve")
    settled = reads(guarded.dana).get(at(approval)).content.decode()
    assert "What changes" in settled and "/runs/workspace" not in settled and version(guarded) == 3


def test_the_page_folds_what_stays_and_shows_what_differs_in_full(guarded: Cast, reads: Any) -> None:
    """RN-15: a long document hides no difference, and a long difference is not cut off."""
    why = "word " * 50 + "end."
    approval = wants(guarded, GUARDED.replace("maximum: 5000", "maximum: 9000") + f"    reason: {why}\n")
    html = reads(guarded.dana).get(at(approval)).content.decode()
    told = html[html.index("What changes") : html.index("What would be in force")]
    assert why in told and "characters)" not in told
    folded = re.findall(r"<details class=.raw folded.*?</details>", html, re.DOTALL)
    assert folded and not any("9,000" in part or "9000" in part or why in part for part in folded)
    assert "As it is in force" in html and html.count("arg changed") >= 2


def test_what_has_no_agent_is_no_choice_of_the_filters(guarded: Cast, reads: Any) -> None:
    """A nameless choice would stand in the place of the filter's name."""
    wants(guarded)
    for path in ("/w/northwind/", "/w/northwind/ledger"):
        assert '<option value="" selected></option>' not in reads(guarded.dana).get(path).content.decode()


def test_the_page_of_a_team_names_who_joins(guarded: Cast, reads: Any) -> None:
    html = reads(guarded.dana).get(at(joining(guarded))).content.decode()
    assert f"+ Riley Chen &lt;{guarded.riley.email}&gt;" in html and "Who decides for Finance" in html


def test_nobody_comes_back_into_a_team_past_the_rule(guarded: Cast) -> None:
    """AZ-17: Priya is switched off; people approve Finance as Dana and Riley; she is asked for like anybody else."""
    departures.deactivate(guarded.priya, by="system")
    approval = joining(guarded)
    assert isinstance(say(approval, guarded.dana, "approve"), Decided)
    departures.reactivate(guarded.priya, by="system")
    assert people.deciders(guarded.finance) == [guarded.dana, guarded.riley]
    assert not vouched.unexplained(guarded.northwind.pk)


@pytest.mark.committed
def test_a_change_looks_at_the_version_in_force_once_it_has_the_lock(cast: Cast, together: Any) -> None:
    """Another version comes into force in the moment of the last yes: what was approved does not fit any more."""
    policies.load(cast.northwind, GUARDED, by="system")
    approval, locked = wants(cast), threading.Event()

    def load() -> None:
        with rows.within(cast.northwind):
            policies.put_in_force(cast.northwind, read_document(POLICY), by="system", author=None)
            locked.set()
            waiting_for_a_lock()

    together(load, lambda: locked.wait(10) and say(approval, cast.dana, "approve"))
    assert outcome(approval)[1] == "failed" and version(cast) == 3


def waiting_for_a_lock() -> None:
    """Until another connection waits for a lock of this one."""
    asked = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        assert until(lambda: cursor.execute(asked) or cursor.fetchone()[0], seconds=10)


@pytest.mark.committed
@pytest.mark.parametrize("which", ["", "WHERE version = 2"])
def test_versions_that_nobody_can_prove_for_a_moment_take_no_rule_away(cast: Cast, tamper: Any, which: str) -> None:
    """AU-2, AZ-9: one byte, a right is given, and the byte put back: the ledger itself would say that it was given."""
    policies.load(cast.northwind, GUARDED, by="system")
    tamper(f"UPDATE approvals_policy SET mac = set_byte(mac, 8, get_byte(mac, 8) # 1) {which}")
    with pytest.raises(PolicyFault, match="before it is back"):
        people.grant(cast.riley, "decide", cast.finance, by="system")
    with pytest.raises(PolicyFault, match="before it is back"):
        policies.load(cast.northwind, POLICY, by="system")


@pytest.mark.committed
def test_a_version_that_was_taken_away_lowers_nothing(cast: Cast, tamper: Any) -> None:
    """AU-2, AZ-9: without the newest version an older one would rule, which asked nobody."""
    policies.load(cast.northwind, GUARDED, by="system")
    subject, held = _ruled(cast)
    assert isinstance(gate.clearance(cast.northwind.pk, subject, held), gate.Cleared)
    tamper("DELETE FROM approvals_policy WHERE version = 2")
    gone = gate.clearance(cast.northwind.pk, subject, held)
    assert isinstance(gone, gate.NotCleared) and gone.code == "tampered" and "Version 2" in gone.message
    with pytest.raises(PolicyFault, match="is gone"):
        policies.load(cast.northwind, POLICY.replace("5000", "6000"), by="system")
    change = changes.of_team(cast.finance, joining=cast.riley)
    assert isinstance(changes.propose(cast.northwind, change, by=cast.omar), Refused)
    assert "version 2 of the policy was in force and is gone." in list(evidence.unproven(cast.northwind.pk))


def _ruled(cast: Cast) -> tuple[str, str]:
    """A small refund, which goes without asking: its subject and digest."""
    proposal = propose(cast, refund(100))
    with rows.within(cast.northwind):
        return proposal.subject, gate.hold(gate.judge(proposal)).digest or ""


def test_nobody_of_another_workspace_is_the_author_of_a_policy(cast: Cast, tmp_path: Path) -> None:
    (file := tmp_path / "policy.yaml").write_text(POLICY.replace("5000", "4000"))
    with pytest.raises(CommandError, match="no member"):
        call_command("policy", "load", str(file), "--workspace", "northwind", "--by", cast.oskar.email)
    assert version(cast) == 1
