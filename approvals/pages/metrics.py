"""GET /metrics: one workspace's figures in Prometheus' text format, for whoever has a watcher's secret of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals import oversight, rows, watchers
from approvals.oversight import Habit
from approvals.people import Person

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
LABELS: Final = {"person": "approver", "tool": "tool", "channel": "channel"}

Sample = tuple[Mapping[str, str], float]


@dataclass(frozen=True)
class Gauge:
    """One figure with what it means, and its samples by their labels."""

    name: str
    help: str
    samples: tuple[Sample, ...]

    def lines(self) -> Iterator[str]:
        yield f"# HELP placet_{self.name} {self.help}"
        yield f"# TYPE placet_{self.name} gauge"
        for labels, value in self.samples:
            told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            yield f"placet_{self.name}{f'{{{told}}}' if told else ''} {value:.10g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of the one workspace whose watcher asks; 401, which says nothing of any, to everybody else."""
    workspace = watchers.watched_by(request)
    if workspace is None:
        answer = HttpResponse("A watcher's secret is needed.\n", status=401, content_type="text/plain; charset=utf-8")
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    with rows.within(workspace):
        lines = [line for gauge in gauges(workspace.pk) for line in gauge.lines()]
    return HttpResponse("\n".join([*lines, ""]), content_type=TEXT)


def gauges(workspace_id: UUID) -> list[Gauge]:
    """All figures, by five statements over indexes, however much there is."""
    waiting = oversight.waiting(workspace_id)
    lately, today = oversight.report(workspace_id, HOUR), oversight.report(workspace_id, DAY)
    channels = today.of("channel")
    decided, yeses = (sum(getattr(habit, name) for habit in channels) for name in ("decisions", "yeses"))
    return [
        _one("approvals_waiting", f"Approvals that wait for people, counted up to {oversight.MOST}.", waiting.count),
        _one("oldest_waiting_seconds", "Age of the approval that waits the longest, 0 for none.", waiting.oldest),
        _by("decisions_hour", "Decisions in the last hour.", lately.habits, "decisions"),
        _by("decisions_day", "Decisions in the last 24 hours.", today.habits, "decisions"),
        _by("rejections_day", "Rejections and stops in the last 24 hours.", today.habits, "noes"),
        _by("quick_approvals_day", "Yeses in 24 hours that nobody can have read for.", today.habits, "quick"),
        _by("decision_seconds_median_day", "Median seconds that a decision took.", today.habits, "seconds"),
        _by("decision_bytes_median_day", "Median bytes of arguments behind a decision.", today.habits, "length"),
        _one(
            "approve_ratio_day", "Share of decisions of 24 hours that were a yes.", yeses / decided if decided else None
        ),
        _ended("approvals_ended_day", "Approvals of calls that ended in 24 hours.", today, "ended"),
        _ended("approvals_expired_day", "Those of them that nobody answered.", today, "expired"),
        _ended("approvals_repeated_day", "Those of them that asked again after a no.", today, "repeats"),
    ]


def _one(name: str, help: str, value: float | None) -> Gauge:
    return Gauge(name, help, () if value is None else (({}, value),))


def _by(name: str, help: str, habits: Iterable[Habit], of: str) -> Gauge:
    """A figure of every person, tool and channel: people by their public ids, never by name or address."""
    found = [(habit, getattr(habit, of)) for habit in habits]
    return Gauge(
        name, help, tuple(({LABELS[habit.of]: _name(habit)}, value) for habit, value in found if value is not None)
    )


def _name(habit: Habit) -> str:
    return rows.public_id(Person.PREFIX, UUID(habit.name)) if habit.of == "person" else habit.name


def _ended(name: str, help: str, found: oversight.Report, of: str) -> Gauge:
    return Gauge(name, help, tuple(({"tool": one.tool}, getattr(one, of)) for one in found.ended))
