"""People, the workspaces they belong to, the teams they decide for, and the one place that answers who may do what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, NamedTuple
from uuid import UUID

from django.contrib.auth.models import BaseUserManager, PermissionsMixin
from django.contrib.contenttypes.models import ContentType
from django.db import models
from guardian.models import UserObjectPermission
from guardian.shortcuts import assign_perm, remove_perm

from approvals import rows
from approvals.ledger import entries
from approvals.passwords import Proven
from approvals.rows import wire


class PersonManager(BaseUserManager["Person"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> Person:
        person: Person = self.model(email=self.normalize_email(email).lower(), **fields)
        person.set_password(password)
        person.save()
        return person

    def at(self, email: str, **more: Any) -> Person | None:
        """The person whose address this is, as it was written here. One that was put into a row past Placet finds
        nobody."""
        found = self.filter(email=email.strip().lower(), **more).first()
        return found if found is not None and found.address_holds() else None

    def get_by_natural_key(self, username: str | None) -> Person:
        """Whom a sign-in with a password names. Raises Person.DoesNotExist."""
        if (found := self.at(username or "")) is None:
            raise Person.DoesNotExist
        return found


class Person(Proven, PermissionsMixin):
    """A human being with one sign-in and any number of memberships. Never an agent, never an approver by rank."""

    PREFIX: ClassVar[str] = "per"

    id = models.UUIDField(primary_key=True, default=rows.uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120)
    is_active = models.BooleanField(default=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["name"]
    objects: ClassVar[PersonManager] = PersonManager()

    class Meta:
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.name

    @property
    def public_id(self) -> str:
        return rows.public_id(self.PREFIX, self.id)

    @property
    def first_name(self) -> str:
        return self.name.split()[0] if self.name.split() else self.email

    @property
    def initials(self) -> str:
        """At most two letters for the circle beside a name."""
        words = self.name.split() or [self.email]
        return (words[0][0] + (words[-1][0] if len(words) > 1 else "")).upper()


class Workspace(models.Model):
    """The tenant: every other row belongs to exactly one. Those who ``administer`` change it, those who ``audit``
    read all of it."""

    PREFIX: ClassVar[str] = "wsp"

    id = models.UUIDField(primary_key=True, default=rows.uuid7, editable=False)
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=rows.Now(), editable=False)

    class Meta:
        permissions = [("administer", "May change the workspace"), ("audit", "May read everything in it")]

    def __str__(self) -> str:
        return self.name

    @property
    def public_id(self) -> str:
        return rows.public_id(self.PREFIX, self.id)


class Membership(rows.Row):
    """That a person belongs to a workspace: without it its pages are 404 and its rights are void."""

    person = models.ForeignKey(Person, models.PROTECT, related_name="memberships")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "person"], name="one_membership_each")]


class Team(rows.Row):
    """A named set of people; those with the object right ``decide`` may decide for it."""

    PREFIX = "tem"

    slug = models.SlugField(max_length=40)
    name = models.CharField(max_length=80)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="one_team_of_a_slug")]
        permissions = [("decide", "May decide for the team")]

    def __str__(self) -> str:
        return self.name


# Questions


def may(person: Any, right: str, thing: models.Model) -> bool:
    """Whether an active member of the thing's workspace holds this right on exactly this thing, read from the
    database now.

    Ranks do not count: neither a superuser nor a right on all things of a kind passes. An unknown right is nobody's.
    """
    workspace_id = home(thing)
    holders = _holders(right, thing)
    return holders.filter(pk=person.pk, memberships__workspace_id=workspace_id).exists()


def deciders(team: Team) -> list[Person]:
    """Who may decide for the team today, by name. An empty list means nobody."""
    return holders("decide", team)


def holders(right: str, thing: models.Model) -> list[Person]:
    """The active members who have this right on exactly this thing, by name."""
    return list(_holders(right, thing).filter(memberships__workspace_id=home(thing)).order_by("name", "pk"))


OPERATED = "agt"
"""The prefix of an agent's public id, which stands for a seat that those fill who may ``operate`` the agent."""


def is_operators(seat: str) -> bool:
    """Whether a seat is not a team's but that of an agent's operators: then it is named by the agent's public id."""
    return rows.parse_id(OPERATED, seat) is not None


class Given(NamedTuple):
    """What gives a seat, a team or an agent: its public id, and the name under which its row was found."""

    thing: str
    called: str


Able = dict[UUID, dict[str, Given]]
"""The seats that each of these people may take, and for each seat what gives it."""


def deciders_of(workspace_id: UUID, seats: Iterable[str]) -> Able:
    """Who may take any of these seats today: those who may decide for a team, named by its slug, or operate an agent,
    named by its public id. One query however many seats."""
    wanted = set(seats)
    operated = {str(key): seat for seat in wanted if (key := rows.parse_id(OPERATED, seat))}
    asked = {"workspace": workspace_id, "teams": sorted(wanted - set(operated.values()))}
    asked |= {"agents": list(operated), "seats": list(operated.values())}
    able: Able = {}
    for person, seat, thing in wire.rows(_ABLE, asked):
        able.setdefault(person, {})[seat] = Given(rows.public_id(Team.PREFIX, thing) if thing else seat, seat)
    return able


# guardian names things by their keys as text. Keys are unique over all tables, and each right is of one table.
_ABLE = """
    WITH wanted (thing, seat, needed, team) AS (
        SELECT id::text, slug, 'decide', id FROM approvals_team
            WHERE workspace_id = %(workspace)s AND slug = ANY(%(teams)s)
        UNION ALL SELECT key, seat, 'operate', NULL FROM unnest(%(agents)s::text[], %(seats)s::text[]) w (key, seat)
    )
    SELECT held.user_id, wanted.seat, wanted.team FROM wanted
        JOIN guardian_userobjectpermission held ON held.object_pk = wanted.thing
        JOIN auth_permission given ON given.id = held.permission_id AND given.codename = wanted.needed
        JOIN approvals_person person ON person.id = held.user_id AND person.is_active
    WHERE EXISTS (SELECT FROM approvals_membership WHERE person_id = person.id AND workspace_id = %(workspace)s)
"""


def teams_decided_by(person: Person, workspace_id: UUID) -> set[str]:
    """The slugs of the workspace's teams for which the person may decide, in one query."""
    kind = ContentType.objects.get_for_model(Team)
    held = UserObjectPermission.objects.filter(user_id=person.pk, content_type=kind, permission__codename="decide")
    keys = [UUID(key) for key in held.values_list("object_pk", flat=True)]
    alive = Person.objects.filter(pk=person.pk, is_active=True, memberships__workspace_id=workspace_id).exists()
    return (
        set(Team.objects.filter(workspace_id=workspace_id, pk__in=keys).values_list("slug", flat=True))
        if alive
        else set()
    )


def seats_of(person: Person, workspace_id: UUID) -> set[str]:
    """Every seat of the workspace that the person may take: teams by their slugs, agents' operators by public ids."""
    return teams_decided_by(person, workspace_id) | operated_by(person, workspace_id)


def operated_by(person: Person, workspace_id: UUID) -> set[str]:
    """The public ids of the agents that a member of the workspace may operate, in one query."""
    held = UserObjectPermission.objects.filter(
        user_id=person.pk,
        permission__codename="operate",
        user__is_active=True,
        user__memberships__workspace_id=workspace_id,
    )
    return {rows.public_id(OPERATED, UUID(key)) for key in held.values_list("object_pk", flat=True)}


def team_names(workspace_id: UUID, slugs: Iterable[str]) -> dict[str, str]:
    """The names of the workspace's teams of these slugs, in one query."""
    found = Team.objects.filter(workspace_id=workspace_id, slug__in=list(slugs))
    return dict(found.values_list("slug", "name"))


def named(email: str) -> Person | None:
    """The active person with this address, for commands that an operator runs."""
    return Person.objects.at(email, is_active=True)


def names(keys: Iterable[UUID]) -> dict[UUID, str]:
    """The names of these people, in one query."""
    return {one.pk: one.name for one in Person.objects.filter(pk__in=set(keys))}


def _holders(right: str, thing: models.Model) -> models.QuerySet[Person]:
    kind = ContentType.objects.get_for_model(thing)
    held = UserObjectPermission.objects.filter(content_type=kind, object_pk=str(thing.pk), permission__codename=right)
    return Person.objects.filter(is_active=True, pk__in=held.values("user_id"))


def rights_in_force(workspace_id: UUID) -> list[tuple[str, str, str, str]]:
    """E-mail, person, right and thing of every object right on a thing of the workspace."""
    held = UserObjectPermission.objects.select_related("user", "permission", "content_type").order_by("pk")
    found = []
    for row in held.filter(user__memberships__workspace_id=workspace_id):
        thing = row.content_object
        if thing is not None and home(thing) == workspace_id:
            found.append((row.user.email, row.user.public_id, row.permission.codename, thing.public_id))
    return found


# Verbs


def join(person: Person, workspace: Workspace, *, by: str) -> Membership:
    """Make the person a member. Joining twice changes nothing."""
    with rows.within(workspace):
        membership, new = Membership.objects.get_or_create(workspace=workspace, person=person)
        if new:
            entries.append(workspace.pk, "workspace", "person.joined", {"person": person.public_id}, by=by)
    return membership


LEAVING: Final[list[Callable[[Person, Workspace, str], None]]] = []
"""What else ends when a person leaves a workspace or is switched off: functions of the person, the workspace and who
says so, called inside its transaction."""


def leave(person: Person, workspace: Workspace, *, by: str) -> None:
    """End the membership, and with it, at once, every right in the workspace and all that hangs on it."""
    with rows.within(workspace):
        _hold_still(workspace.pk, person)
        for right, thing in rights_of(person, workspace):
            revoke(person, right, thing, by=by)
        if Membership.objects.filter(workspace=workspace, person=person).delete()[0]:
            entries.append(workspace.pk, "workspace", "person.left", {"person": person.public_id}, by=by)
        for ends in LEAVING:
            ends(person, workspace, by)


def _hold_still(workspace_id: UUID, person: Person) -> bool:
    """Whether somebody is a member, and stays one or none until the transaction ends: else a right that is given while
    they leave would wait for them to come back."""
    held = Membership.objects.select_for_update().filter(workspace_id=workspace_id, person=person)
    return bool(held.values_list("pk", flat=True))


def rights_of(person: Person, workspace: Workspace) -> list[tuple[str, models.Model]]:
    held = UserObjectPermission.objects.filter(user_id=person.pk).select_related("permission", "content_type")
    found = [(row.permission.codename, row.content_object) for row in held.order_by("pk")]
    return [(right, thing) for right, thing in found if thing is not None and home(thing) == workspace.pk]


def home(thing: models.Model) -> UUID:
    """The workspace that a thing belongs to; a workspace belongs to itself."""
    key: UUID = thing.pk if isinstance(thing, Workspace) else thing.workspace_id  # type: ignore[attr-defined] # a row
    return key


GIVING: Final[list[Callable[[Person, str, models.Model], None]]] = []
"""What stands in the way of a right that is to be given: functions of the person, the right and the thing, which raise
where it is not given in this way."""


def grant(person: Person, right: str, thing: models.Model, *, by: str) -> None:
    """Give a member a right on one thing and record it. Granting twice changes nothing.

    Raises ValueError if the person is no member of the thing's workspace, Permission.DoesNotExist for an unknown right,
    and what GIVING raises.
    """
    workspace_id = home(thing)
    with rows.within(workspace_id):
        if not _hold_still(workspace_id, person):
            raise ValueError(f"{person.email} is no member of the workspace.")
        if not _holders(right, thing).filter(pk=person.pk).exists():
            for guards in GIVING:
                guards(person, right, thing)
            give(person, right, thing, by=by)


def give(person: Person, right: str, thing: models.Model, *, by: str) -> None:
    """Give a member a right that they do not have, whoever would have to approve it; inside an open `rows.within`."""
    assign_perm(right, person, thing)
    _record_right("right.granted", person, right, thing, home(thing), by)


def revoke(person: Person, right: str, thing: models.Model, *, by: str) -> None:
    """Take a right on one thing away and record it; votes that still need it stop counting at once."""
    workspace_id = home(thing)
    with rows.within(workspace_id):
        remove_perm(right, person, thing)
        _record_right("right.revoked", person, right, thing, workspace_id, by)


def _record_right(kind: str, person: Person, right: str, thing: models.Model, workspace_id: UUID, by: str) -> None:
    body = {"person": person.public_id, "right": right, "thing": thing.public_id}  # type: ignore[attr-defined] # or a workspace
    entries.append(workspace_id, "workspace", kind, body, by=by)
