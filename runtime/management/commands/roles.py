"""`manage.py roles`: print, as SQL, the database roles that an operator makes once on a server of their own."""

from __future__ import annotations

from typing import Any

from approvals.ledger.printing import PlainCommand
from runtime import roles
from runtime.environment import Environment, from_process
from runtime.settings import BASE_DIR


class Command(PlainCommand):
    help = "Print the SQL that makes the three database roles, from the addresses in the environment."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        environment, _ = from_process(BASE_DIR)
        owner, *working = (_role(environment, name) for name in ("OWNER_", "", "SWEEP_"))
        database = str(environment.postgres("DATABASE_URL")["NAME"])
        statements = [statement for role in (owner, *working) for statement in roles.role_statements(role)]
        statements.append(roles.membership_statement(owner.name, working[1].name))
        statements.append(f"-- If it is not there yet: {roles.create_database(database, owner.name)}")
        statements += roles.database_statements(database, owner.name, [role.name for role in working])
        self.stdout.write("-- Run this once as a superuser of the server. It holds passwords: keep it out of logs.")
        for statement in statements:
            self.stdout.write(f"{statement};")


def _role(environment: Environment, kind: str) -> roles.Role:
    where = environment.postgres(f"DATABASE_{kind}URL")
    name, password = str(where["USER"]), str(where["PASSWORD"])
    return roles.Role(name, password) if kind == "OWNER_" else roles.working(name, password)
