"""A cast: the workspaces, teams and people that a file names, and how they are brought into being."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from approvals import people, policy_documents, rows, schemas, workspaces
from approvals.forming import form as form
from approvals.ledger import entries, sealing
from approvals.ledger.about import Broken
from approvals.people import Person, Workspace
from approvals.policies import NeedsApproval

STEPS = 5_000_000
"""What reading a cast may cost, in steps of validation: a file of whoever runs Placet may name thousands of people."""
_NAME = {"type": "string", "minLength": 1, "maxLength": 80}
_SLUG = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$"}
_EMAIL = {"type": "string", "pattern": "^[^@\\s]{1,64}@[^@\\s]{1,190}$"}
_EMAILS = {"type": "array", "items": _EMAIL, "uniqueItems": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["people", "workspaces"],
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["email", "name"],
                "properties": {"email": _EMAIL, "name": _NAME},
            },
        },
        "workspaces": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["slug", "name"],
                "properties": {
                    "slug": _SLUG,
                    "name": _NAME,
                    "members": _EMAILS,
                    "administer": _EMAILS,
                    "audit": _EMAILS,
                    "teams": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["slug", "name"],
                            "properties": {"slug": _SLUG, "name": _NAME, "deciders": _EMAILS},
                        },
                    },
                },
            },
        },
    },
}


class CastFault(ValueError):
    """A file that cannot be a cast: the sentence names the place."""


def read(text: bytes) -> dict[str, Any]:
    """The cast in a YAML or JSON text. Raises CastFault, naming the place, for anything else."""
    try:
        return held_to(SCHEMA, policy_documents.parse(text))
    except policy_documents.PolicyFault as fault:
        raise CastFault(str(fault)) from fault


def held_to(schema: dict[str, Any], value: Any) -> dict[str, Any]:
    """The value if it keeps the schema; raises CastFault if not."""
    for fault in schemas.validate(schema, value, steps=STEPS):
        raise CastFault(f"{fault.pointer or 'the document'}: {fault.message}")
    kept: dict[str, Any] = value
    return kept


def load(cast: Mapping[str, Any], *, passwords: Mapping[str, str], set_passwords: bool = False, by: str) -> None:
    """Make everyone and everything the cast names, one transaction per workspace; loading it again changes nothing.

    A new person without an entry in `passwords` cannot sign in until `changepassword` gave one. Nothing is taken away:
    who is no longer named keeps the rights they have. Raises CastFault for an address that the cast does not introduce.
    """
    known = {who["email"].lower(): who for who in cast["people"]}
    _check_addresses(cast, known)
    folk = {email: enrol(email, who["name"], passwords.get(email), set_passwords) for email, who in known.items()}
    for wanted in cast["workspaces"]:
        workspace = found(wanted["slug"], wanted["name"], by=by)
        try:
            with rows.within(workspace):
                _furnish(workspace, wanted, folk, by)
        except NeedsApproval as asks:
            raise CastFault(f"{wanted['slug']}: {asks} Ask for each with `people grant`.") from asks
        except (Broken, policy_documents.PolicyFault) as fault:
            raise CastFault(f"{wanted['slug']}: {fault}") from fault


def enrol(email: str, name: str, password: str | None, set_password: bool) -> Person:
    """The person with this address, new if need be; a password is set on a new person, or when told so. Raises
    CastFault where the address stands with somebody whose it is not."""
    person = Person.objects.at(email)
    if person is None:
        try:
            with transaction.atomic():
                return Person.objects.create_user(email, password, name=name)
        except IntegrityError:  # another loader was first
            person = Person.objects.at(email)
    if person is None:
        raise CastFault(f"The address {email} was set past Placet: `ledger verify` names it.")
    if password and set_password and not person.check_password(password):
        person.set_password(password)
        person.save(update_fields=["password"])
    return person


def found(slug: str, name: str, *, by: str) -> Workspace:
    """The workspace of this slug, new if need be."""
    known = workspaces.named(slug)
    if known is not None:
        return known
    workspace = Workspace(slug=slug, name=name)
    try:
        with rows.within(workspace):
            workspace.save(force_insert=True)
            sealing.ensure(workspace.pk)
            entries.append(workspace.pk, "workspace", "workspace.founded", {"slug": slug, "name": name}, by=by)
    except IntegrityError:  # another loader was first
        if (theirs := workspaces.named(slug)) is None:
            raise
        return theirs
    return workspace


def _furnish(workspace: Workspace, wanted: Mapping[str, Any], folk: Mapping[str, Person], by: str) -> None:
    for email in wanted.get("members", []):
        people.join(folk[email.lower()], workspace, by=by)
    for right in ("administer", "audit"):
        for email in wanted.get(right, []):
            people.grant(folk[email.lower()], right, workspace, by=by)
    for described in wanted.get("teams", []):
        team = form(workspace, described["slug"], described["name"], by=by)
        for email in described.get("deciders", []):
            people.grant(folk[email.lower()], "decide", team, by=by)


def _check_addresses(cast: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Before anything is written: a right for someone the file does not introduce is a slip of the pen."""
    for workspace in cast["workspaces"]:
        members = {email.lower() for email in workspace.get("members", [])}
        deciders = [email for team in workspace.get("teams", []) for email in team.get("deciders", [])]
        for email in members - set(known):
            raise CastFault(f"{workspace['slug']} has a member {email}, whom the file does not introduce.")
        for email in (*workspace.get("administer", []), *workspace.get("audit", []), *deciders):
            if email.lower() not in members:
                raise CastFault(f"{email} is given a right in {workspace['slug']} without being a member.")
