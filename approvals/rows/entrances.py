"""Entrances: the few questions that are asked before the workspace is known. Each is a function of the database that
belongs to the sweep's role, which sees all rows, and gives ids alone. `docs/tenants.md` lists them; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from approvals.rows import wire


@dataclass(frozen=True)
class Entrance:
    """A function: its name, what it takes (SQL types, as $1, $2 …) and the query that it is, with ``public.`` before
    each table; it gives the keys of workspaces."""

    name: str
    takes: tuple[str, ...]
    query: str

    @property
    def signature(self) -> str:
        return f"public.{self.called}"

    @property
    def called(self) -> str:
        """Its name as PostgreSQL gives it."""
        return f"{self.name}({','.join(self.takes)})"

    @property
    def body(self) -> str:
        return f" {self.query} "


ENTRANCES: Final[list[Entrance]] = []


def entrance(name: str, *takes: str, query: str) -> Callable[..., list[UUID]]:
    """Declare an entrance. What comes back asks it: the workspaces that it gives for these values."""
    made = Entrance(name, takes, query)
    ENTRANCES.append(made)
    asked = f"SELECT * FROM {name}({', '.join(f'%s::{kind}' for kind in takes)})"

    def ask(*values: Any) -> list[UUID]:
        return [key for (key,) in wire.rows(asked, values)]

    return ask


every_workspace: Final = entrance(
    "placet_workspaces", query="SELECT w.id FROM public.approvals_workspace w ORDER BY w.slug"
)
"""The workspaces, by slug: for commands of operators, which take one after the other."""
