"""What became of an approval, put back by whoever owns the database: an older yes would do, or one more."""

from __future__ import annotations

from typing import Final

from approvals import people, policies
from approvals.people import Team
from tests.campaigns.field import POLICY, Field
from tests.campaigns.forgeries import kind
from tests.cast import formed

TWO: Final = POLICY.replace("team: finance}]", "team: finance, count: 2}], editor_may_approve: true")


def _for_two(field: Field) -> None:
    """A call that Dana and Mallory have to approve."""
    people.join(field.mallory, field.workspace, by="system")
    finance = Team.objects.get(workspace=field.workspace, slug="finance")
    people.grant(field.mallory, "decide", finance, by="system")
    policies.load(field.workspace, TWO, by="system")
    field.run = field.play("tamper.asked")


@kind("a taking back is spoilt", held=True)
def taking_back_spoilt(field: Field) -> None:
    _for_two(field)
    field.approve()
    field.retract()
    field.sql(
        "UPDATE approvals_decision SET decided_via = 'x' WHERE workspace_id = %(workspace)s AND verdict = 'retract'"
    )
    field.approve(field.mallory)


@kind("a rejection is set back", held=True)
def rejection_set_back(field: Field) -> None:
    field.reject()
    field.sql(
        "UPDATE approvals_approval SET status = 'pending', decided_at = NULL, decided_by_id = NULL"
        " WHERE workspace_id = %(workspace)s",
        "UPDATE runtime_call SET status = 'held', ended_at = NULL, message = ''"
        " WHERE run_id = %(run)s AND status = 'refused'",
        "UPDATE runtime_run SET status = 'suspended_approval', wake_at = NULL WHERE id = %(run)s",
    )
    field.approve()


@kind("a revision is set back to the one before an edit", held=True)
def revision_set_back(field: Field) -> None:
    _for_two(field)
    field.approve(field.mallory)
    field.edit("less")
    assert not field.refused, field.refused
    field.sql("UPDATE approvals_approval SET revision = 1 WHERE workspace_id = %(workspace)s")
    field.approve()


@kind("a team takes the name of another", held=True)
def team_renamed(field: Field) -> None:
    people.join(field.mallory, field.workspace, by="system")
    people.grant(field.mallory, "decide", formed(field.workspace, "interns"), by="system")
    field.sql(
        "UPDATE approvals_team SET slug = 'was-finance' WHERE workspace_id = %(workspace)s AND slug = 'finance'",
        "UPDATE approvals_team SET slug = 'finance' WHERE workspace_id = %(workspace)s AND slug = 'interns'",
    )
    field.approve(field.mallory)
