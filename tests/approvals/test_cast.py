"""`manage.py people`: workspaces, teams, people and rights from the command line."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from approvals import cast
from approvals.ledger import entries
from approvals.people import Person, Team, Workspace, deciders, may
from tests.standing import come_to

pytestmark = pytest.mark.django_db

FILE = """
people:
  - {email: Ada@mill.example, name: Ada Moss}
  - {email: ben@mill.example, name: Ben Rust}
workspaces:
  - slug: mill
    name: The mill
    members: [ada@mill.example, ben@mill.example]
    audit: [ben@mill.example]
    teams:
      - {slug: millers, name: Millers, deciders: [ada@mill.example]}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Workspace:
    (tmp_path / "cast.yaml").write_text(FILE)
    (tmp_path / "secret.json").write_text(json.dumps({"people": {"ada@mill.example": "flour and water"}}))
    call_command("people", "load", str(tmp_path / "cast.yaml"), passwords=tmp_path / "secret.json", stdout=StringIO())
    return come_to("mill")


def test_everyone_and_everything_is_made_and_recorded(loaded: Workspace) -> None:
    """AU-1: who belongs and who may decide is in the ledger of the workspace."""
    ada, ben = Person.objects.order_by("name")
    assert [person.email for person in deciders(Team.objects.get())] == ["ada@mill.example"]
    assert may(ben, "audit", loaded) and not may(ada, "audit", loaded)
    kinds = [entry["kind"] for entry in entries.read(loaded.pk, "workspace")]
    assert kinds.count("person.joined") == 2
    assert kinds.count("right.granted") == 2
    assert {"workspace.founded", "team.formed"} <= set(kinds)


def test_a_file_may_name_hundreds_of_people_and_teams() -> None:
    """The budget of one validation is for what strangers send."""
    folk = [{"email": f"person{number}@mill.example", "name": f"Person {number}"} for number in range(1000)]
    everybody = [one["email"] for one in folk]
    teams = [{"slug": f"team-{number}", "name": "Millers", "deciders": everybody[:100]} for number in range(100)]
    mill = {"slug": "mill", "name": "The mill", "members": everybody, "teams": teams}
    assert cast.read(json.dumps({"people": folk, "workspaces": [mill]}).encode())["workspaces"] == [mill]


def test_loading_again_changes_nothing(loaded: Workspace) -> None:
    before = (Person.objects.count(), Team.objects.count(), entries.Entry.objects.count())
    cast.load(cast.read(FILE.encode()), passwords={"ada@mill.example": "another password"}, by="system")
    assert (Person.objects.count(), Team.objects.count(), entries.Entry.objects.count()) == before
    assert Person.objects.get(name="Ada Moss").check_password("flour and water")


def test_who_was_given_no_password_cannot_sign_in(loaded: Workspace) -> None:
    assert not Person.objects.get(name="Ben Rust").has_usable_password()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("members: [ada@", "members: [eve@mill.example, ada@"), "eve@mill.example, whom the file does not introduce"),
        (("audit: [ben@", "audit: [eve@"), "eve@mill.example is given a right in mill without being a member"),
        (("slug: mill\n", "slug: Mill house\n"), "/workspaces/0/slug"),
        (("name: Ben Rust", "name: Ben Rust, admin: true"), "/people/1"),
        (("    name: The mill", "    name: The mill\n    name: Another"), "said twice"),
    ],
)
def test_a_slip_in_the_file_is_named_and_nothing_is_written(change: tuple[str, str], told: str) -> None:
    """A right for nobody is refused where it is written down."""
    with pytest.raises(cast.CastFault, match=told):
        cast.load(cast.read(FILE.replace(*change).encode()), passwords={}, by="system")
    assert not Person.objects.exists()


def test_rights_are_granted_and_revoked_by_name(loaded: Workspace) -> None:
    call_command("people", "grant", "ben@mill.example", "decide", "team:millers", workspace="mill")
    assert len(deciders(Team.objects.get())) == 2
    call_command("people", "revoke", "ben@mill.example", "decide", "team:millers", workspace="mill")
    assert len(deciders(Team.objects.get())) == 1
    said = StringIO()
    call_command("people", "list", workspace="mill", stdout=said)
    assert "Ada Moss <ada@mill.example>  decide team:millers" in said.getvalue()
    assert "Ben Rust <ben@mill.example>  audit" in said.getvalue()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("eve@mill.example", "audit", "workspace"), "nobody with the address"),
        (("ben@mill.example", "decide", "team:bakers"), "no team:bakers"),
        (("ben@mill.example", "operate", "runtime.wheel:north"), "no kind of thing"),
    ],
)
def test_a_right_on_nothing_is_refused_in_a_sentence(loaded: Workspace, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("people", "grant", *words, workspace="mill")
