"""Invitations: how somebody comes into a workspace, by a link that is sent to their address, works once and expires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, models, transaction

from approvals import identities, letters, people, policies, rows, tokens, vouched, workspaces
from approvals.ledger import canonical, entries, followed, keys
from approvals.ledger.about import Broken
from approvals.people import Person, Workspace
from approvals.providers import Claims
from approvals.votes import Refused

LASTS: Final = timedelta(days=7)


class Invitation(rows.Row):
    """That whoever holds the secret may come in under this address, and decide for these teams."""

    PREFIX = "inv"
    MOVES: ClassVar = {"open": frozenset({"accepted", "withdrawn"})}

    class Status(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        WITHDRAWN = "withdrawn"

    email = models.EmailField()
    teams = models.JSONField(default=list)
    invited_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    secret_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.OPEN)
    accepted_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    mac = models.BinaryField()

    def __str__(self) -> str:
        return self.email

    def holds(self) -> bool:
        """Whether the row is as it was written: one that was put into the database past Placet lets nobody in."""
        try:
            return keys.holds("invitation", _signed(self), self.mac)
        except keys.UnknownKey:
            return False


def _signed(one: Invitation) -> bytes:
    return canonical.encode(
        {
            "id": one.pk.hex,
            "workspace": one.workspace_id.hex,
            "email": one.email,
            "teams": list(one.teams),
            "invited_by": one.invited_by_id.hex if one.invited_by_id else None,
            "secret": one.secret_hash,
            "expires": one.expires_at.isoformat(),
        }
    )


@dataclass(frozen=True)
class Welcome:
    """An invitation that may be accepted now: into which workspace, and who has its address already, if anybody."""

    invitation: Invitation
    workspace: Workspace
    known: Person | None


# Questions


def open_with(token: str) -> Welcome | None:
    """The invitation of this link, if it is as it was made, open, not expired, and whoever invited may still do so."""
    secret = tokens.hashed(token)
    workspace = next((workspaces.keyed(key) for key in _WORKSPACE_OF(secret)), None) if secret else None
    if workspace is None:
        return None
    with rows.within(workspace):
        found = Invitation.objects.select_related("invited_by").filter(secret_hash=secret).first()
        if found is None or not _counts(found, workspace):
            return None
        return Welcome(found, workspace, Person.objects.at(found.email))


def _counts(one: Invitation, workspace: Workspace) -> bool:
    if one.status != Invitation.Status.OPEN or one.expires_at <= rows.now() or not one.holds():
        return False
    try:
        is_open = one.public_id in _TOLD.of(workspace.pk)
    except Broken:
        return False
    return is_open and (one.invited_by is None or may_invite(one.invited_by, workspace))


def may_invite(person: Person, workspace: Workspace) -> bool:
    """Whether somebody may invite into a workspace: by a right that the ledger gave. Otherwise a right that was written
    into the database would make others of its kind, with entries of their own."""
    return vouched.may(person, "administer", workspace)


def open_ones(workspace: Workspace) -> list[Invitation]:
    """The invitations that may be accepted now, the newest first."""
    found = Invitation.objects.filter(workspace=workspace, status=Invitation.Status.OPEN).select_related("invited_by")
    return [one for one in found.order_by("-created_at") if _counts(one, workspace)]


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every invitation that was written past Placet, or opened again."""
    told = _open_after(frozenset(), entries.read(workspace_id, "workspace", only=_KINDS))
    for one in Invitation.objects.filter(workspace_id=workspace_id).order_by("created_at"):
        if not one.holds():
            yield f"The invitation of {one.email} is not as it was written."
        elif (one.status == Invitation.Status.OPEN) != (one.public_id in told):
            yield f"The invitation of {one.email} is {one.status}, and by the ledger it is not."


def _open_after(before: frozenset[str], told: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The invitations that are open by these entries."""
    found = set(before)
    for entry in told:
        (found.add if entry["kind"] == "invitation.made" else found.discard)(entry["invitation"])
    return frozenset(found)


_KINDS: Final = ["invitation.made", "invitation.accepted", "invitation.withdrawn"]
_TOLD = followed.Followed(_KINDS, frozenset[str](), _open_after)


_WORKSPACE_OF = rows.entrance(
    "placet_workspace_of_invitation",
    "text",
    query="SELECT i.workspace_id FROM public.approvals_invitation i WHERE i.secret_hash = $1",
)


# Verbs


def invite(
    workspace: Workspace, email: str, *, teams: Sequence[str] = (), by: Person | None
) -> tuple[Invitation, str] | Refused:
    """Invite an address into a workspace, to decide for these teams; an earlier invitation of it ends. Returns the
    invitation and its secret, which is nowhere kept. ``by`` must be allowed to administer; None is an operator."""
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        return Refused("invalid_email", "This is no e-mail address.", pointer="/email")
    with rows.within(workspace):
        if by is not None and not may_invite(by, workspace):
            return Refused("not_allowed", "Only those who administer the workspace may invite.")
        try:
            known = vouched.teams(workspace.pk, teams).keys()
        except Broken as fault:
            return Refused("tampered", str(fault))
        if unknown := sorted(set(teams) - known):
            return Refused("unknown_team", f"The workspace has no team {unknown[0]}.", pointer="/teams")
        if refused := _guarded(workspace, teams):
            return refused
        if Person.objects.filter(email=email, memberships__workspace=workspace).exists():
            return Refused("member_already", "Somebody with this address is a member already.", pointer="/email")
        withdraw_all(email, workspace, by.public_id if by else "system")
        return _made(workspace, email, sorted(known), by)


def _guarded(workspace: Workspace, teams: Sequence[str]) -> Refused | None:
    """Whether the policy wants people to approve who decides for one of these teams: no invitation gets past that."""
    for slug, team in vouched.teams(workspace.pk, teams).items():
        try:
            asked = policies.changing(workspace.pk, "team", {"team": slug, "name": team.name, "people": []})
        except policies.PolicyFault as fault:
            return Refused("tampered", fault.message)
        if asked:
            told = (
                f"Who decides for {team.name} has to be approved: invite without the team, and ask for it afterwards."
            )
            return Refused("needs_approval", told, pointer="/teams")
    return None


def _made(workspace: Workspace, email: str, teams: list[str], by: Person | None) -> tuple[Invitation, str]:
    token = tokens.fresh()
    made = Invitation(workspace=workspace, email=email, teams=teams, invited_by=by, secret_hash=tokens.hashed(token))
    made.expires_at = rows.now() + LASTS
    made.mac = keys.sign("invitation", _signed(made))
    made.save(force_insert=True)
    # An address in the ledger could never be erased: that it was this one can still be shown.
    body = {"invitation": made.public_id, "address": keys.sign("commitment", email.encode()).hex(), "teams": teams}
    entries.append(workspace.pk, "workspace", "invitation.made", body, by=by.public_id if by else "system")
    return made, token


def write_to(invitation: Invitation, workspace: Workspace, token: str) -> bool:
    """Send the link; False if the mail server did not take it."""
    told: dict[str, Any] = {"workspace": workspace, "by": invitation.invited_by, "days": LASTS.days}
    told["link"] = letters.link("join", token)
    return letters.send(invitation.email, f"You are invited to {workspace.name} on Placet", "invitation", told)


def withdraw_all(email: str, workspace: Workspace, by: str) -> None:
    """End every open invitation of an address into a workspace; inside an open `rows.within`."""
    for one in Invitation.objects.filter(workspace=workspace, email=email, status=Invitation.Status.OPEN):
        if rows.move(Invitation, one.pk, frm="open", to="withdrawn"):
            body = {"invitation": one.public_id}
            entries.append(workspace.pk, "workspace", "invitation.withdrawn", body, by=by)


def accept(welcome: Welcome, person: Person) -> Refused | None:
    """Let a person in who proved to be the one with this address; what was promised is given, once."""
    if person.email != welcome.invitation.email or not person.address_holds() or not person.is_active:
        return Refused("not_yours", "This invitation is for somebody else.")
    try:
        with rows.within(welcome.workspace):
            return _accept(welcome, person)
    except (policies.NeedsApproval, policies.PolicyFault):
        return Refused("no_longer", "Who decides for its teams has to be approved by now: ask for another invitation.")


def accept_as_new(
    welcome: Welcome, *, name: str, password: str | None = None, claims: Claims | None = None
) -> Person | Refused:
    """Make the person who was invited, with a password or with an identity of theirs, and let them in."""
    try:
        with transaction.atomic():
            person = Person.objects.create_user(welcome.invitation.email, password, name=name.strip())
            refused = accept(welcome, person)
            if refused is None and claims is not None and not identities.link(person, claims):
                refused = Refused("linked_already", "That sign-in belongs to somebody here already.")
            if refused is not None:
                transaction.set_rollback(True)
                return refused
    except IntegrityError:
        return Refused("known_already", "Somebody has this address already; sign in to accept.")
    return person


def _accept(welcome: Welcome, person: Person) -> Refused | None:
    invitation, workspace = Invitation.objects.get(pk=welcome.invitation.pk), welcome.workspace
    if not _counts(invitation, workspace):
        return Refused("no_longer", "This invitation does not count any more.")
    if not rows.move(Invitation, invitation.pk, frm="open", to="accepted", accepted_by=person):
        return Refused("no_longer", "This invitation was used already.")
    by = invitation.invited_by.public_id if invitation.invited_by else "system"
    body = {"invitation": invitation.public_id, "person": person.public_id}
    entries.append(workspace.pk, "workspace", "invitation.accepted", body, by=person.public_id)
    people.join(person, workspace, by=by)
    for team in vouched.teams(workspace.pk, invitation.teams).values():
        people.grant(person, "decide", team, by=by)
    return None
