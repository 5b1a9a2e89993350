"""One workspace for one kind of tampering: a run that was allowed one call and waits for people before the next, and
somebody with every power over the database and no key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from approvals import people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused, decide
from approvals.ledger import canonical, verify
from approvals.people import Person, Workspace
from approvals.revisions import current_revision
from runtime import definitions, loop, runs
from runtime.calls import Call
from runtime.runs import Run
from tests.campaigns.stage import Stage
from tests.cast import formed
from tests.standing import founded

POLICY: Final = """
policy: 1
rules:
  - {id: free, match: {tool: tamper.free}, verdict: allow}
  - {id: asked, match: {tool: tamper.asked}, verdict: require_approval, approvals: [{team: finance}], deadline: 1h}
"""
TEXT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
}


@dataclass
class Field:
    """The workspace, its people, agent and run. ``refused`` is what was answered to a verdict that was not taken,
    ``shut_out`` whether somebody who tried to come in was not let in."""

    stage: Stage
    workspace: Workspace
    dana: Person
    riley: Person
    mallory: Person
    run: Run = field(init=False)
    refused: str = ""
    shut_out: bool = False

    def __post_init__(self) -> None:
        self.run = self.play("tamper.free", "tamper.asked")

    def play(self, *tools: str, rehearsal: bool = False) -> Run:
        """A run of this workspace that proposes these calls one after the other, worked on as far as it goes."""
        return self.work(self.begin(*tools, rehearsal=rehearsal))

    def begin(self, *tools: str, rehearsal: bool = False) -> Run:
        """The same, before anybody works on it."""
        agent = definitions.agent_named(self.workspace.pk, "player")
        assert agent is not None
        return runs.start(
            self.workspace.pk,
            agent,
            input={"steps": [[{"tool": tool, "args": {"text": tool}}] for tool in tools]},
            title="A campaign",
            by=self.riley.public_id,
            requester_id=self.riley.pk,
            rehearsal=rehearsal,
        )

    def work(self, run: Run | None = None) -> Run:
        """What a worker does until the run is not ready any more."""
        run = run or self.run
        for _ in range(20):
            if not loop.advance(run.pk, run.workspace_id):
                break
        run.refresh_from_db()
        return run

    def approve(self, person: Person | None = None) -> None:
        """A yes through the one door; a refusal is kept."""
        self._decide("approve", person)

    def stop(self) -> None:
        """Stop what was approved, before it is sent."""
        self._decide("stop")

    def retract(self) -> None:
        """Take Dana's vote back."""
        self._decide("retract")

    def reject(self) -> None:
        """Dana's no."""
        self._decide("reject", message="Never.")

    def edit(self, text: str) -> None:
        """Dana's edit, which is her yes as well."""
        self._decide("edit", edited=canonical.encode({"text": text}))

    def _decide(self, verdict: str, person: Person | None = None, **said: Any) -> None:
        approval = self.approval()
        revision = current_revision(approval)
        answer: Decided | Refused = decide(
            self.workspace.pk,
            approval.pk,
            by=person or self.dana,
            verdict=verdict,
            revision=revision.number,
            digest=revision.digest,
            via="web",
            **said,
        )
        self.refused = answer.code if isinstance(answer, Refused) else ""

    def approval(self) -> Approval:
        return Approval.objects.get(workspace=self.workspace, chain=self.run.public_id)

    def call(self, tool: str = "tamper.asked") -> Call:
        return Call.objects.get(run=self.run, tool_name=tool)

    def sql(self, *statements: str, **values: Any) -> None:
        """Statements past Placet: triggers and foreign keys off, as the server's superuser."""
        named = {"workspace": self.workspace.pk, "run": self.run.pk, "chain": self.run.public_id, **values}
        with self.stage.servers.postgres.connect("placet") as admin:
            admin.execute(b"SET session_replication_role = replica")
            for statement in statements:
                admin.execute(statement.encode(), named)

    def wake(self) -> None:
        """Make the run one that a worker looks at."""
        self.sql("UPDATE runtime_run SET status = 'ready', wake_at = now(), ended_at = NULL WHERE id = %(run)s")

    def sent(self) -> int:
        """How many calls of this workspace's tools arrived, at whatever address."""
        return len([each for each in self.stage.recorder.arrivals if each.path.startswith(f"/{self.workspace.slug}/")])

    def findings(self) -> list[str]:
        """What `ledger verify` says of this workspace, anchors included."""
        found = verify.verify_workspace(self.workspace.pk)
        return [f"{verdict.chain} {finding}" for verdict in found for finding in verdict.findings]

    def caught(self) -> list[str]:
        """The doors at which the tampering was seen."""
        self.run.refresh_from_db()
        asked = Call.objects.filter(workspace=self.workspace, tool_name="tamper.asked")
        seen = {
            "sign-in": self.shut_out,
            "decide": bool(self.refused),
            "resume": self.run.status == "parked" and self.run.reason_code == "unreadable",
            "clearance": asked.filter(status="refused").exists(),
            "verify": bool(self.findings()),
        }
        return [door for door, saw in seen.items() if saw]


def lay_out(stage: Stage, slug: str) -> Field:
    """A new field, its run waiting for people. Whoever asks about it stands in its workspace."""
    workspace = founded(slug, slug)
    with rows.reading(workspace):
        dana, riley, mallory = (_person(name, slug) for name in ("dana", "riley", "mallory"))
        for person in (dana, riley):
            people.join(person, workspace, by="system")
        finance = formed(workspace, "finance")
        people.grant(dana, "decide", finance, by="system")
        policies.load(workspace, POLICY, by="system")
        for tool in ("free", "asked"):
            register(stage, workspace, tool)
        definitions.register_agent(workspace.pk, "player", "scripted", {}, by="system")
        return Field(stage, workspace, dana, riley, mallory)


def register(stage: Stage, workspace: Workspace, tool: str, **more: Any) -> None:
    """A tool behind the recorder, or a new version of it."""
    definition = {"name": f"tamper.{tool}", "title": tool.title(), "inputSchema": TEXT, **more}
    where = {"url": f"http://{stage.recorder.address}/{workspace.slug}/{tool}"}
    definitions.register_tool(workspace.pk, definition, kind="http", config=where, effect="unsafe", by="system")


def _person(name: str, slug: str) -> Person:
    return Person.objects.create_user(f"{name}@{slug}.example", None, name=name.title())
