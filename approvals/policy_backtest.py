"""Backtest: what a proposed policy would have said of every call that was ruled on, before it is put in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any, Final
from uuid import UUID

from approvals import policies
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.ledger.sealing import Erased
from approvals.policies import Opinion, Policy
from approvals.rulings import UNPROVEN, Forged, Ruling

_AT_ONCE: Final = 500
_NOT_ASKED: Final = frozenset({"id", "match", "reason", "verdict"})
"""What in a rule asks nothing of people."""


@dataclass(frozen=True)
class Change:
    """One call of which the proposed policy says something else. ``revision`` is above 1 where people had edited it;
    ``open`` that they are asked about it right now."""

    subject: str
    revision: int
    at: datetime
    tool: str
    agent: str
    before: Opinion
    after: Opinion
    open: bool

    @property
    def of_verdict(self) -> bool:
        """Whether the verdict is another, and not only what people are asked."""
        return self.before.verdict != self.after.verdict


@dataclass
class Report:
    """What became of the calls that were not told as changes. ``refused`` are those that Placet itself refused,
    whatever policy said: the tool was unknown, its schema did not fit, or too few people could decide."""

    same: int = 0
    refused: int = 0
    erased: int = 0
    unproven: list[str] = field(default_factory=list)


def replay(
    workspace_id: UUID, document: Mapping[str, Any], report: Report, *, since: datetime | None = None
) -> Iterator[Change]:
    """Every call whose verdict, or whose demand on people, would have been another, in the order they were ruled on;
    what is no change is counted in ``report``. Each is judged on the exact arguments of its day, by the version of its
    day and by ``document``, which has its defaults written out. Only calls: of all else people are asked anyway."""
    replayed = _Replay(workspace_id, document, report)
    ruled = Ruling.objects.filter(workspace_id=workspace_id).order_by("created_at", "revision")
    for ruling in (ruled.filter(created_at__gte=since) if since else ruled).iterator(_AT_ONCE):
        if change := replayed.one(ruling):
            yield change


@dataclass(frozen=True)
class Sample:
    """The newest calls of a time, as many as there was patience for. ``reached`` is the moment before which there are
    more to look at, None where all were."""

    changes: list[Change]
    report: Report
    reached: datetime | None

    @property
    def looked(self) -> int:
        """How many calls were looked at."""
        report = self.report
        return len(self.changes) + report.same + report.refused + report.erased + len(report.unproven)


def sample(
    workspace_id: UUID,
    document: Mapping[str, Any],
    *,
    since: datetime,
    before: datetime | None = None,
    most: int = 2000,
    seconds: float = 3,
) -> Sample:
    """The same for somebody who waits for a page: the newest first, at most so many rulings and for so long."""
    report, changes, end = Report(), [], monotonic() + seconds
    replayed = _Replay(workspace_id, document, report)
    ruled = Ruling.objects.filter(workspace_id=workspace_id, created_at__gte=since).order_by("-created_at", "-pk")
    ruled = ruled.filter(created_at__lt=before) if before else ruled
    reached, last = None, None
    for count, ruling in enumerate(ruled[: most + 1].iterator(_AT_ONCE)):
        if last is not None and (count == most or monotonic() > end):
            reached = last
            break
        last = ruling.created_at
        if change := replayed.one(ruling):
            changes.append(change)
    return Sample(changes, report, reached)


class _Replay:
    """One document beside the versions of a workspace."""

    def __init__(self, workspace_id: UUID, document: Mapping[str, Any], report: Report) -> None:
        self._versions, self._document, self._report = _Versions(workspace_id), document, report
        pending = Approval.objects.filter(workspace_id=workspace_id, status=Approval.Status.PENDING)
        self._waiting = set(pending.values_list("subject", "revision"))

    def one(self, ruling: Ruling) -> Change | None:
        """What would have been otherwise with this ruling; None for what is counted in the report, and for all that is
        no call."""
        opinions = None if "kind" in ruling.header else _opinions(ruling, self._versions, self._document, self._report)
        if opinions is None:
            return None
        before, after = opinions
        if _says(before) == _says(after):
            self._report.same += 1
            return None
        named = (ruling.subject, ruling.revision, ruling.created_at, ruling.tool, ruling.agent)
        return Change(*named, before, after, (ruling.subject, ruling.revision) in self._waiting)


class _Versions:
    """The rules of each version, read once."""

    def __init__(self, workspace_id: UUID) -> None:
        self._workspace_id = workspace_id
        self._known: dict[int, list[dict[str, Any]]] = {0: []}

    def rules(self, version: int) -> list[dict[str, Any]]:
        """Raises Forged for a version that is gone or not as it was saved."""
        if version not in self._known:
            policy = Policy.objects.filter(workspace_id=self._workspace_id, version=version).first()
            if policy is None:
                raise Forged(f"Version {version} of the policy is gone.")
            self._known[version] = policy.rules
        return self._known[version]


def _opinions(
    ruling: Ruling, versions: _Versions, document: Mapping[str, Any], report: Report
) -> tuple[Opinion, Opinion] | None:
    try:
        args = canonical.parse(_proven(ruling))
        rules = versions.rules(ruling.policy_version)
    except Erased:
        report.erased += 1
        return None
    except canonical.Unrepresentable:  # an agent proposed what is no JSON
        report.refused += 1
        return None
    except UNPROVEN as fault:
        report.unproven.append(f"{ruling.subject}: {fault}")
        return None
    asked = {"tool": ruling.tool, "agent": ruling.agent, "args": args}
    before = policies.judged(rules, ruling.policy_version, **asked)
    if ruling.verdict == Ruling.Verdict.DENY and before.verdict != ruling.verdict:
        report.refused += 1
        return None
    return before, policies.judged(document["rules"], 0, **asked)


def _proven(ruling: Ruling) -> bytes:
    """The arguments of a ruling that is as it was written. Raises Forged, Tampered."""
    if not ruling.holds():
        raise Forged(f"The ruling {ruling.public_id} is not as it was written.")
    args = ruling.clear_args()
    if canonical.sha256_hex(args) != ruling.args_digest:
        raise Forged(f"The arguments of {ruling.public_id} are not those that were judged.")
    return args


def _says(opinion: Opinion) -> tuple[str, bytes]:
    """The verdict, and all that the rule asks of people and of the time: not what it is called or why it matched."""
    rule = opinion.rule or {}
    asked = {word: value for word, value in rule.items() if word not in _NOT_ASKED}
    return opinion.verdict, canonical.encode(asked if opinion.verdict != "deny" else {})
