"""Every state of who may say yes, made on one desk: its name, who looks at it, and the path, one after the other.

They are to be looked at as they come: what comes later (a flood, a stop) changes the pages before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from approvals import (
    absences,
    changes,
    comments,
    floods,
    gate,
    glass,
    granting,
    grants,
    habits,
    halts,
    oversight,
    people,
    policies,
    rows,
)
from approvals.approvals import Approval
from approvals.assurance import Assurance
from approvals.decisions import Decided
from approvals.due_steps import DueStep
from approvals.people import Person
from approvals.policy_documents import read_document
from tests import cast as casting
from tests.runtime import gallery
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.gallery import PLACE, last, path_of, refunding

Seen = tuple[str, Person, str]
KEPT_OPEN = {"reading", "edited-sides"}
"""With a script in them: these pages are to say by themselves what happens."""
AS_IT_IS = ""
"""In the place of a path: the page that this person has open, once it says what happened while they read."""
RULES = """
  - id: refunds
    match: {tool: [shop.refund, shop.credit]}
    verdict: require_approval
    reason: Money goes out.
    risk: high
    approvals: [{team: finance, count: 2}]
    allowed_decisions: [approve, edit, reject, respond]
    break_glass: {team: duty, review: {team: finance, within: 4h}}
    deadline: 4h
"""
CHANGES = """
  - id: changes
    match: {kind: change}
    verdict: require_approval
    approvals: [{team: finance}]
"""
FRESH = Assurance("fresh", ("password",))


def hang(desk: Desk, monkeypatch: Any) -> Iterator[Seen]:
    """Make one after the other."""
    gallery.furnish(desk)
    duty = casting.formed(desk.cast.northwind, "duty", "Duty")
    people.grant(desk.cast.omar, "decide", duty, by="system")
    policies.load(desk.cast.northwind, POLICY + RULES, by="system", author=desk.cast.omar)
    parts = (_votes, _meanwhile, _requests, _glass, _deputies, _standing, _levels, _changes, _habits, _flood, _stops)
    for part in parts:
        yield from part(desk, monkeypatch)


def said(approval: Approval, person: Person, verdict: str, **more: Any) -> None:
    """A verdict that has to be taken."""
    answer = casting.say(approval, person, verdict, **more)
    assert isinstance(answer, Decided), answer


def _votes(desk: Desk, _: Any) -> Iterator[Seen]:
    cast = desk.cast
    voted = last(desk.begin([refunding()]))
    said(voted, cast.dana, "approve", message="Photos match.")
    yield "voted", cast.dana, path_of(voted)
    said(voted, cast.dana, "retract", message="The wrong pallet.")
    for person, text in ((cast.dana, "Is that the offer of Tuesday?"), (cast.omar, "It is; see ticket 4471.")):
        comments.leave(voted.workspace_id, voted.pk, by=person, text=text, via="web")
    yield "taken-back", cast.priya, path_of(voted)


def _meanwhile(desk: Desk, _: Any) -> Iterator[Seen]:
    cast, pair = desk.cast, "approvals: [{team: finance, count: 2}]"
    rules = RULES.replace(pair, f"{pair}\n    editor_may_approve: true")
    policies.load(cast.northwind, POLICY + rules, by="system", author=cast.omar)
    approval = last(desk.begin([refunding(note="وصلت منصتان مبللتان. " * 90)]))
    yield "reading", cast.priya, path_of(approval)
    said(approval, cast.dana, "edit", edited=refunding(90_000, note="وصلت منصتان جافتان. " * 90)["args"])
    yield "edited-meanwhile", cast.priya, AS_IT_IS
    yield "edited", cast.priya, path_of(approval)
    yield "edited-sides", cast.priya, f"{path_of(approval)}?view=sides"
    Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now())
    gate.expire_due()
    yield "expired-meanwhile", cast.priya, AS_IT_IS
    policies.load(cast.northwind, POLICY + RULES, by="system", author=cast.omar)


def _requests(desk: Desk, _: Any) -> Iterator[Seen]:
    run = desk.begin([refunding()], [refunding(90_000, note="Two of five pallets arrived wet.") | {"revises": 0}])
    first = last(run)
    yield "before-request", desk.cast.dana, path_of(first)
    wanted = [("/amount", "Only what was wet."), ("/note", "Say how many pallets.")]
    said(first, desk.cast.dana, "respond", changes=wanted, message="Nearly.")
    desk.work(run)
    yield "requested", desk.cast.priya, path_of(first)
    yield "proposed-anew", desk.cast.priya, path_of(last(run))


def _glass(desk: Desk, _: Any) -> Iterator[Seen]:
    run = desk.begin([refunding()])
    approval = last(run)
    yield "glass", desk.cast.omar, path_of(approval)
    said(approval, desk.cast.omar, "override", message="Their shop opens at nine.", assurance=FRESH)
    desk.work(run)
    yield "glass-broken", desk.cast.priya, path_of(approval)
    yield "glass-inbox", desk.cast.riley, f"{PLACE}/"
    glass.review(desk.cast.northwind, approval, by=desk.cast.priya, finding="wrong", note="It opens at ten.")
    yield "glass-reviewed", desk.cast.omar, path_of(approval)


def _deputies(desk: Desk, _: Any) -> Iterator[Seen]:
    until, cast = rows.now() + timedelta(days=1), desk.cast
    absences.announce(cast.northwind, cast.dana, kind="delegation", deputy=cast.omar, ends_at=until, by=None)
    approval = last(desk.begin([refunding()]))
    yield "deputy", cast.omar, path_of(approval)
    said(approval, cast.omar, "approve")
    yield "deputy-voted", cast.priya, path_of(approval)


def _standing(desk: Desk, _: Any) -> Iterator[Seen]:
    cast, standing = desk.cast, POLICY.replace("deadline: 1h", "deadline: 1h\n    standing: {for: 1h, uses: 2}")
    policies.load(cast.northwind, standing + RULES, by="system", author=cast.omar)
    seen = desk.begin([call("asked.unsafe", 7)])
    yield "ask-grant", cast.priya, f"{path_of(last(seen))}/standing"
    said(last(seen), cast.priya, "approve")
    desk.work(seen)
    asked = granting.ask(cast.northwind.pk, last(seen), granting.Wish(), by=cast.priya)
    assert isinstance(asked, Approval), asked
    yield "grant", cast.priya, path_of(asked)
    said(asked, cast.priya, "approve")
    yield "granted", cast.omar, path_of(asked)
    yield "standing-grant", cast.omar, f"{PLACE}/grants/{grants.Grant.objects.get().public_id}"
    yield "granted-run", cast.omar, f"{PLACE}/runs/{desk.begin([call('asked.unsafe', 7)]).public_id}"


def _levels(desk: Desk, _: Any) -> Iterator[Seen]:
    managers = casting.formed(desk.cast.northwind, "managers", "Managers")
    people.grant(desk.cast.omar, "decide", managers, by="system")
    levels = "deadline: 1s\n    on_deadline: escalate\n    escalate: [{teams: [managers], deadline: 2h}]"
    document = POLICY + RULES.replace("deadline: 4h", levels)
    policies.load(desk.cast.northwind, document, by="system", author=desk.cast.omar)
    approval = last(desk.begin([refunding()]))
    while DueStep.objects.filter(approval=approval, done_at=None).exists():
        gate.do_due()
    yield "escalated", desk.cast.omar, path_of(approval)


def _changes(desk: Desk, _: Any) -> Iterator[Seen]:
    guarded = POLICY + RULES + CHANGES
    policies.load(desk.cast.northwind, guarded, by="system", author=desk.cast.omar)
    wanted = guarded.replace("count: 2", "count: 1").replace("deadline: 4h", "deadline: 1h")
    change = changes.of_policy(desk.cast.northwind, read_document(wanted))
    approval = changes.propose(desk.cast.northwind, change, by=desk.cast.omar, reason="Two are too many.")
    assert isinstance(approval, Approval), approval
    yield "change", desk.cast.priya, path_of(approval)
    said(approval, desk.cast.priya, "reject", message="Two is what was agreed.")
    yield "change-rejected", desk.cast.omar, path_of(approval)


def _habits(desk: Desk, monkeypatch: Any) -> Iterator[Seen]:
    """With thresholds that the few decisions of a desk reach."""
    monkeypatch.setattr(oversight, "SOME", 2)
    habits.look(desk.cast.northwind.pk)
    yield "habits", desk.cast.omar, f"{PLACE}/"


def _flood(desk: Desk, monkeypatch: Any) -> Iterator[Seen]:
    monkeypatch.setattr(floods, "MANY", 2)
    yield "flood", desk.cast.priya, f"{PLACE}/"
    monkeypatch.undo()


def _stops(desk: Desk, _: Any) -> Iterator[Seen]:
    approval = last(desk.begin([refunding()]))
    halts.begin(desk.cast.northwind, by=desk.cast.omar, reason="It refunds everything twice.")
    yield "stopped", desk.cast.priya, path_of(approval)
    yield "stopped-inbox", desk.cast.priya, f"{PLACE}/"
    yield "stopped-runs", desk.cast.omar, f"{PLACE}/runs"
