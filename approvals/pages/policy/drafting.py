"""A draft as its page tells it: the text, what is wrong with it and in which line, and the documents beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from approvals import bars, policies, policy_cases, policy_lines, policy_switching, policy_text, policy_versions
from approvals.people import Person, Workspace
from approvals.policies import Opinion, Policy, PolicyFault
from approvals.policy_cases import Case, Result
from approvals.policy_drafts import Draft
from approvals.rulings import UNPROVEN

EMPTY: dict[str, Any] = {"rules": []}


@dataclass(frozen=True)
class Fault:
    """What is wrong with a text: in which line, at which pointer, and what that line says."""

    line: int
    pointer: str
    message: str
    says: str

    @classmethod
    def of(cls, text: str, fault: PolicyFault) -> Fault:
        line = policy_lines.line_of(text, fault)
        lines = text.split("\n")
        return cls(line, fault.pointer, fault.message, lines[line - 1].strip()[:200] if line <= len(lines) else "")


class Drafted:
    """A draft for one reader; reads only, inside `rows.within`."""

    def __init__(self, workspace: Workspace, draft: Draft, reader: Person) -> None:
        self.workspace, self.draft, self.reader = workspace, draft, reader

    @property
    def mine(self) -> bool:
        return self.draft.author_id == self.reader.pk

    @property
    def may_change(self) -> bool:
        """Whether the reader may change it now."""
        return self.mine and not self.draft.asks and not self.draft.done

    @cached_property
    def text(self) -> str:
        return self.draft.text

    @cached_property
    def _read(self) -> tuple[dict[str, Any] | None, PolicyFault | None]:
        try:
            document = policies.read_document(self.text)
        except PolicyFault as fault:
            return None, fault
        try:
            bars.check_people(self.workspace.pk, document["rules"])
        except PolicyFault as fault:
            return document, fault
        return document, None

    @property
    def document(self) -> dict[str, Any] | None:
        """The document with its defaults written out; None where the text is no policy yet."""
        return self._read[0]

    @cached_property
    def fault(self) -> Fault | None:
        """Why it cannot be switched on."""
        fault = self._read[1]
        return Fault.of(self.text, fault) if fault else None

    @cached_property
    def source(self) -> dict[str, Any] | None:
        """The text as it is written, where rules can be changed in it one by one; None where it cannot be read."""
        try:
            read = policy_text.parse(self.text)
        except PolicyFault:
            return None
        rules = read.get("rules") if isinstance(read, dict) else None
        return read if isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules) else None

    # What stands beside it

    @cached_property
    def current(self) -> Policy | None:
        return policies.current(self.workspace.pk)

    @property
    def in_force(self) -> dict[str, Any]:
        """The document in force; without a rule where there is none."""
        return contents(self.current)

    @cached_property
    def base(self) -> dict[str, Any]:
        """What the draft was begun from."""
        return contents(policy_versions.numbered(self.workspace.pk, self.draft.based_on))

    @property
    def next_number(self) -> int:
        return (self.current.version if self.current else 0) + 1

    @cached_property
    def moved(self) -> str:
        """That another version was switched on since it was begun."""
        refused = policy_switching.moved(self.workspace, self.draft.based_on)
        return refused.message if refused and not self.draft.done else ""

    @cached_property
    def asking(self) -> Opinion | None:
        """The rule in force by which people have to approve it. None where it takes nobody's yes."""
        if self.document is None:
            return None
        try:
            return policies.changing(self.workspace.pk, "policy", self.document)
        except PolicyFault:
            return None

    # Its cases

    @cached_property
    def cases_text(self) -> str:
        return self.draft.cases_text

    @cached_property
    def _cases(self) -> tuple[list[Case], Fault | None]:
        if not self.cases_text.strip():
            return [], None
        try:
            return policy_cases.read_cases(self.cases_text.encode()), None
        except PolicyFault as fault:
            return [], Fault.of(self.cases_text, fault)

    @property
    def cases_fault(self) -> Fault | None:
        return self._cases[1]

    @cached_property
    def results(self) -> list[Result]:
        """What the draft says of each of its cases."""
        return policy_cases.run(self.document, self._cases[0]) if self.document else []

    @property
    def failed(self) -> list[Result]:
        return [result for result in self.results if result.wrong]

    @property
    def unreached(self) -> list[str]:
        """The rules that no case comes to; nothing where there are no cases."""
        return policy_cases.unreached(self.document, self.results) if self.document and self.results else []


def contents(policy: Policy | None) -> dict[str, Any]:
    """The document of a version; without a rule where there is none, or none that can be proved."""
    try:
        return policy.contents if policy else EMPTY
    except UNPROVEN:
        return EMPTY
