"""What is checked when a process starts: a wrong set-up fails with a sentence at once, not at the first approval.

`manage.py check` looks at the settings, `manage.py check --database default` at the database as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

from approvals.ledger import keys
from approvals.rows import isolation

PLACET = "placet"
"""The tag of the cheap checks of our own: long-running processes make these alone, and save what the rest imports."""
ROLES_HINT = "Run the statements that `manage.py roles` prints, then `manage.py migrate`."
FACTS = """
SELECT rolsuper, rolbypassrls, current_setting('lock_timeout') = '0' OR
    current_setting('idle_in_transaction_session_timeout') = '0',
    EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public' AND pg_has_role(current_user, tableowner, 'MEMBER')),
    current_user <> %s AND pg_has_role(current_user, %s, 'MEMBER')
FROM pg_roles WHERE rolname = current_user
"""


@register(PLACET)
def seam_is_connected(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """A decision would be taken and no run would ever hear of it."""
    found: list[CheckMessage] = []
    for name in ("PLACET_RESOLVED", "PLACET_TOOL_APPROVED", "PLACET_PREVIEW", "PLACET_AGENT_NAMED"):
        try:
            if not callable(import_string(getattr(settings, name))):
                found.append(Error(f"{name} does not name a function.", id="runtime.E001"))
        except ImportError as error:
            found.append(Error(f"{name} names nothing that can be imported: {error}", id="runtime.E001"))
    return found


@register(PLACET)
def roles_are_apart(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Application, sweep and (where it is known) owner are three roles."""
    names = list(settings.PLACET_ROLES.values())
    if len(set(names)) == len(names):
        return []
    return [Error("DATABASE_URL, DATABASE_OWNER_URL and DATABASE_SWEEP_URL must name three roles.", id="runtime.E002")]


@register(PLACET)
def key_in_use_is_there(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Nothing could be sealed or signed."""
    if keys.current() in settings.PLACET_KEYS:
        return []
    return [Error(f"PLACET_KEY_IN_USE is {keys.current()}, which PLACET_KEYS does not hold.", id="runtime.E009")]


@register(deploy=True)
def production_is_strict(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """What Django's own deployment checks do not know of."""
    faults: list[CheckMessage] = []
    if settings.PLACET_ENV != "production":
        faults.append(Error("PLACET_ENV is not production.", id="runtime.E003"))
    if "*" in settings.ALLOWED_HOSTS:
        faults.append(Error("PLACET_HOSTS must name hosts; a star lets any page speak as this one.", id="runtime.E004"))
    for number, key in settings.PLACET_KEYS.items():
        if len(set(key)) < 12:
            fault = f"Key {number} of PLACET_KEYS is not random. Draw one: openssl rand -hex 32"
            faults.append(Error(fault, id="runtime.E005"))
    return faults


@register(Tags.database)
def database_is_safe(app_configs: Any, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """The role we work as could not step over row-level security, and the keys are those the data were made with."""
    if "default" not in (databases or ()) or settings.PLACET_PROCESS == "migrate":
        return []
    try:
        return [*_role_faults(), *_isolation_faults(), *_key_faults()]
    except DatabaseError as error:
        said = f"The database does not answer or has no tables yet: {str(error).strip()}"
        return [Error(said, hint="Is it running? Was `manage.py migrate` run?", id="runtime.E006")]


def refuse_wrong_keys() -> None:
    """End a process that holds other keys than its data were made with, before it writes anything that nobody can read
    or prove later. A database that does not answer yet is no reason."""
    try:
        faults = _key_faults()
    except DatabaseError:
        connections["default"].close()
        return
    if faults:
        raise SystemExit("\n".join(fault.msg for fault in faults))


def _role_faults() -> list[CheckMessage]:
    with connections["default"].cursor() as cursor:
        cursor.execute(FACTS, [settings.PLACET_ROLES["sweep"]] * 2)
        superuser, bypasses, waits_for_ever, owns, sees_all = cursor.fetchone()
    name = connections["default"].settings_dict["USER"]
    found = {
        f"The role {name} is a superuser: row-level security would not bind it.": superuser,
        f"The role {name} has BYPASSRLS: row-level security would not bind it.": bypasses,
        f"The role {name} owns tables, or is a member of the role that does.": owns,
        f"The role {name} is a member of the sweep's: it would see the rows of every workspace.": sees_all,
        f"The role {name} has no lock_timeout or no idle_in_transaction_session_timeout.": waits_for_ever,
    }
    return [Error(said, hint=ROLES_HINT, id="runtime.E007") for said, wrong in found.items() if wrong]


def _isolation_faults() -> list[CheckMessage]:
    hint = "`manage.py migrate` closes every table and makes our functions anew."
    with connections["default"].cursor() as cursor:
        found = list(isolation.faults(cursor, settings.PLACET_ROLES["sweep"]))
    return [Error(said, hint=hint, id="runtime.E010") for said in found]


def _key_faults() -> list[CheckMessage]:
    try:
        keys.check_fits()
    except keys.KeysDoNotFit as error:
        return [Error(str(error), id="runtime.E008")]
    return []
