"""Querysets, insertions and changes that are built once say what the ORM says."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.db.models import Model

from approvals import rows
from approvals.approvals import Approval
from approvals.people import Team
from approvals.revisions import Revision
from approvals.rows import wire
from tests.cast import Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")

ASKED = rows.Ready(
    lambda: Approval.objects.select_related("requester", "decided_by").filter(
        workspace_id=rows.Slot("workspace"), pk=rows.Slot("key")
    )
)


def values(row: Model) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_a_ready_queryset_gives_the_rows_of_the_plain_one(cast: Cast) -> None:
    asked = ask(cast, refund())
    plain = Approval.objects.select_related("requester").get(pk=asked.pk)
    for _ in range(7):  # the database plans a prepared statement anew after its fifth use
        [made] = ASKED(workspace=cast.northwind.pk, key=asked.pk)
        assert (made, values(made), made.requester) == (plain, values(plain), plain.requester)
    assert made.decided_by is None
    assert ASKED.first(workspace=cast.halden.pk, key=asked.pk) is None


def test_what_is_asked_is_prepared(cast: Cast) -> None:
    """Django turns preparing off unless the settings say otherwise; each answer then waits for a plan of its own."""
    ASKED(workspace=cast.northwind.pk, key=cast.northwind.pk)
    known = wire.rows("SELECT statement, generic_plans FROM pg_prepared_statements", ())
    assert [count for statement, count in known if "approvals_approval" in statement] == [1]


def test_annotations_and_related_rows_come_along(cast: Cast) -> None:
    found = rows.Ready(
        lambda: Revision.objects.select_related("ruling").annotate(at=rows.Now()).filter(approval=rows.Slot("approval"))
    )
    revision = found.first(approval=ask(cast, refund()).pk)
    assert revision is not None
    assert revision.ruling.holds()
    assert abs((rows.now() - revision.at).total_seconds()) < 60  # type: ignore[attr-defined]


def test_an_insertion_leaves_defaults_to_the_database(cast: Cast) -> None:
    team = Team(workspace=cast.northwind, slug="desk", name="Desk")
    rows.insert(team)
    assert values(team) == values(Team.objects.get(pk=team.pk))
    team.name = "The desk"
    team.save()
    assert Team.objects.get(slug="desk").name == "The desk"


def test_an_insertion_is_refused_as_by_the_orm(cast: Cast) -> None:
    with pytest.raises(IntegrityError, match="one_team_of_a_slug"):
        rows.insert(Team(workspace=cast.northwind, slug="finance", name="Finance"))


def test_a_change_counts_what_it_changed(cast: Cast) -> None:
    wanted = {"workspace": cast.northwind.pk, "slug": {"finance", "nobody"}}
    assert rows.change(Team, wanted, {"name": "Money"}) == 1
    assert rows.change(Team, wanted | {"name": "Finance"}, {"name": "No"}) == 0
    assert Team.objects.get(pk=cast.finance.pk).name == "Money"


def test_what_a_column_cannot_hold_is_an_error_of_the_database(cast: Cast) -> None:
    with pytest.raises(DatabaseError):
        rows.change(Team, {"id": cast.finance.pk}, {"name": "x" * 81})


@pytest.mark.committed
def test_a_connection_older_than_a_migration_is_replaced(cast: Cast) -> None:
    """A statement prepared for the table as it was fails once, as an outage does, and not for ever."""
    asked = ("SELECT words FROM note", ())
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE note (words integer)")
        assert wire.rows(*asked) == []
    old = connection.connection
    old.pgconn.exec_(b"ALTER TABLE note ALTER words TYPE text")  # past psycopg, which would prepare anew
    with pytest.raises(OperationalError):
        wire.rows(*asked)
    assert old.closed and wire.value("SELECT 1", ()) == 1
