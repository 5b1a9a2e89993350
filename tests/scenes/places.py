"""Places: the pages that are there whatever happens, as those see them who may come there, and as those who may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from approvals import policy_drafts
from approvals.ledger.entries import Entry
from tests.approvals.pages.conftest import at
from tests.cast import POLICY, Cast, ask, refund, say

HOME = "/w/northwind"
OPEN = (
    *("ledger", "ledger/entries", "ledger/verification", "oversight", "retention", "policy", "attention", "runs"),
    *("start", "tools", "tools/import", "agents", "people", "teams", "absences", "grants"),
)
"""What somebody who administers the workspace may open."""
Scene = tuple[str, Any, str, int]
"""Its name, who looks at it (None: nobody has signed in), the path, and how it answers."""


def of(cast: Cast) -> Iterator[Scene]:
    """Make one after the other."""
    yield "inbox-empty", cast.priya, "/w/northwind/", 200
    yield from _reviews(cast)
    yield from _workspace(cast)
    yield from _account(cast)
    yield from _doors(cast)


def _reviews(cast: Cast) -> Iterator[Scene]:
    edited = ask(cast, refund(142_000, note="two\u200b pallets"))
    say(edited, cast.dana, "edit", edited=refund(124_000, note="two\u200b pallets, " + "wet " * 40))
    yield "edited", cast.priya, at(edited), 200
    yield "edited-result", cast.priya, at(edited) + "?view=result", 200
    yield "edit", cast.priya, at(edited, "/edit"), 200
    yield "edit-json", cast.priya, at(edited, "/edit?mode=json"), 200
    yield "batch", cast.priya, f"{HOME}/batch?pick={edited.public_id}", 200
    yield "may-not", cast.riley, at(edited), 200
    rejected = ask(cast, refund())
    say(rejected, cast.dana, "reject", message="No.")
    yield "rejected", cast.priya, at(rejected), 200


def _workspace(cast: Cast) -> Iterator[Scene]:
    yield "inbox", cast.priya, f"{HOME}/", 200
    for tab in ("others", "voted", "settled"):
        yield f"inbox-{tab}", cast.dana, f"{HOME}/?tab={tab}", 200
    yield "inbox-nothing-found", cast.priya, f"{HOME}/?q=nothing-of-the-kind", 200
    for name in OPEN:
        yield name.replace("/", "-"), cast.omar, f"{HOME}/{name}", 200
    for name in ("policy", "tools", "agents"):
        yield f"{name}-read-only", cast.priya, f"{HOME}/{name}", 200
    last = Entry.objects.filter(workspace=cast.northwind).latest("at")
    yield "ledger-entry", cast.omar, f"{HOME}/ledger/entries/{last.public_id}", 200
    yield "person", cast.omar, f"{HOME}/people/{cast.dana.public_id}", 200
    yield "person-read-only", cast.priya, f"{HOME}/people/{cast.dana.public_id}", 200
    yield "team", cast.omar, f"{HOME}/teams/{cast.finance.public_id}", 200
    yield "erasing", cast.omar, f"{HOME}/retention/person?person={cast.dana.public_id}", 200
    yield from _policy(cast)


def _policy(cast: Cast) -> Iterator[Scene]:
    draft = policy_drafts.begin(cast.northwind, by=cast.omar)
    assert isinstance(draft, policy_drafts.Draft)
    text = POLICY.replace("maximum: 100000", "maximum: 80000")
    assert isinstance(policy_drafts.save(draft, by=cast.omar, number=1, text=text), policy_drafts.Draft)
    at_draft = f"/w/northwind/policy/drafts/{draft.public_id}"
    yield "policy-draft", cast.omar, f"{at_draft}?backtest=yes", 200
    for name in ("text", "rule?rule=refunds", "above"):
        yield f"policy-{name[:4]}", cast.omar, f"{at_draft}/{name}", 200
    yield "policy-draft-refused", cast.priya, at_draft, 403
    yield "policy-json", cast.omar, "/w/northwind/policy?view=json", 200


def _account(cast: Cast) -> Iterator[Scene]:
    yield "account", cast.priya, "/accounts/", 200
    for name in ("hours", "password", "totp/add", "passkeys/add", "confirm"):
        yield f"account-{name.replace('/', '-')}", cast.priya, f"/accounts/{name}/", 200


def _doors(cast: Cast) -> Iterator[Scene]:
    yield "sign-in", None, "/", 200
    yield "nothing-here", cast.priya, "/w/northwind/nothing", 404
    yield "foreign", cast.oskar, "/w/northwind/", 404
    yield "attention-refused", cast.dana, f"{HOME}/attention", 403
    yield "people-read-only", cast.dana, "/w/northwind/people", 200
