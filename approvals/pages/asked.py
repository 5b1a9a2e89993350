"""One approval as one reader meets it: the call, how it stands, what they may do about it."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import Any

from approvals import changes, comments, glass, halts, pins, requested, turns
from approvals.approvals import Approval
from approvals.clearance import NotCleared, clearance, would_have_gone
from approvals.comments import Comment
from approvals.decisions import Decision, decisions_of
from approvals.edits.difference import Change, difference
from approvals.edits.table import Argument, masked_count, table
from approvals.edits.view import Tool
from approvals.glass import GlassReview
from approvals.halts import Halt
from approvals.ledger import canonical
from approvals.pages.cards import tool_of
from approvals.pages.matter import Matter, address_of
from approvals.rulings import UNPROVEN
from approvals.standings import Standing, standing
from approvals.votes import ballot

DOUBTS_MOST = 20
"""So many questions about the outcome of one call are looked for."""


class Asked(Matter):
    """What is asked, how it stands, and what this reader may do about it. Reads only; inside `rows.within`."""

    # The call

    @property
    def target(self) -> str:
        """Whether what the arguments point to may change unseen before the call is sent, in a sentence."""
        sends = self.is_call and self.state in {"pending", "running"} and not self.approval.rehearsal
        if not sends or self.approval.effect == "pure":
            return ""
        if pin := pins.of(self.current.ruling.header):
            seen = f"What it points to was looked up by {pin.reader} when this was asked"
            return f"{seen}. If that has changed when it is about to be sent, people are asked again."
        return "What it points to may change until it is sent: the tool names no way to look it up again."

    @cached_property
    def arguments(self) -> list[Argument]:
        """What will run, with what changed since what it is compared with."""
        return table(self.last_args, tool_of(self.approval), before=self.before)

    @cached_property
    def before(self) -> Any:
        """An earlier revision, the proposal that it revises, or what a change takes the place of."""
        if self.approval.kind == Approval.Kind.CHANGE:
            return changes.before(self.approval)
        return self.args_at(self.since) if self.edited else self.revised.last_args if self.revised else None

    @property
    def masked(self) -> int:
        """How many values are masked."""
        return masked_count(self.arguments)

    @cached_property
    def voided(self) -> int:
        """How many yeses for the revision before the last edit no longer count."""
        before = [one for one in self.decisions if one.revision == self.approval.revision - 1 and one.verdict != "edit"]
        return sum(one.verdict == "approve" for one in turns.counting(before))

    # How it stands

    @property
    def state(self) -> str:
        """One word: pending, running, renewed (people were asked again before it was sent), stopped, rehearsed (it
        would have been sent), an outcome, or how it ended. Past its deadline it is expired, swept or not."""
        approval = self.approval
        if approval.status == "pending":
            return "pending" if self.halt or approval.ends_at > self.now else "expired"
        if approval.status == "approved" and approval.kind == Approval.Kind.CALL:
            if approval.outcome == "failed" and any(one.verdict == "stop" for one in self.decisions):
                return "stopped"
            if would_have_gone(approval):
                return "rehearsed"
            return str(approval.outcome) if approval.outcome != "none" else "renewed" if self.newer else "running"
        if approval.kind == Approval.Kind.CHANGE and approval.outcome == "failed":
            return "failed"
        return str(approval.status)

    @cached_property
    def halt(self) -> Halt | None:
        """The stop that freezes it; None where people may decide, or it has ended."""
        return halts.of(self.approval)

    @cached_property
    def newer(self) -> Approval | None:
        """The approval in which the same call was asked again, because this one no longer covered it."""
        return Approval.objects.filter(
            workspace=self.workspace, subject=self.approval.subject, asked_again=self.approval
        ).first()

    @cached_property
    def doubts(self) -> list[Approval]:
        """What people were asked of the call's outcome, because nobody knew it; the last one last."""
        if not self.is_call or self.approval.outcome == "none":
            return []
        subjects = [f"{self.approval.subject}:outcome:{number}" for number in range(1, DOUBTS_MOST + 1)]
        return list(
            Approval.objects.filter(workspace=self.workspace, subject__in=subjects)
            .select_related("decided_by")
            .order_by("created_at")
        )

    @property
    def open_doubt(self) -> Approval | None:
        """Where people can say now what became of the call."""
        return next((each for each in self.doubts if each.status == "pending"), None)

    @property
    def found(self) -> bool:
        """Whether a person, and not the tool, said that the call happened."""
        return bool(self.doubts) and self.doubts[-1].choice == "it_happened" and self.state == "executed"

    @cached_property
    def waits(self) -> NotCleared | None:
        """Why an approved call does not go yet, and until when; None where nothing but the machine is awaited."""
        if self.state != "running":
            return None
        answer = clearance(self.workspace.pk, self.approval.subject, self.current.digest)
        return answer if isinstance(answer, NotCleared) and answer.until else None

    @property
    def may_stop(self) -> bool:
        """Whether this reader may stop what was approved and waits to be sent."""
        return self.waits is not None and self.standing.may_stop

    @property
    def pending(self) -> bool:
        return self.state == "pending"

    @property
    def soon(self) -> bool:
        return not self.halt and self.approval.ends_at - self.now <= timedelta(hours=1)

    @property
    def version(self) -> str:
        """Changes with everything that an open page shows and somebody else may change."""
        said = len(self.decisions) + len(self.comments) + self.approval.previews.count()
        return f"{self.approval.revision}.{said}.{self.state}{'.halted' if self.halt else ''}"

    @cached_property
    def standing(self) -> Standing:
        return standing(self.approval, self.reader)

    @cached_property
    def decisions(self) -> list[Decision]:
        return decisions_of(self.approval)

    @cached_property
    def comments(self) -> list[Comment]:
        return comments.of(self.approval)

    @property
    def filled(self) -> int:
        return self.standing.filled

    @property
    def required(self) -> int:
        return self.standing.required or self.approval.required

    @property
    def open(self) -> int:
        return max(0, self.required - self.filled)

    @property
    def decidable(self) -> bool:
        """Whether anybody may say anything: it is open, and no stop freezes it."""
        return self.pending and self.halt is None

    @property
    def may_approve(self) -> bool:
        return self.decidable and self.standing.may

    @cached_property
    def may_override(self) -> bool:
        """Whether this reader may break the glass: let the call go though votes are missing."""
        if not self.decidable or "break_glass" not in self.rule:
            return False
        try:
            return glass.opens(ballot(self.approval, self.current), self.reader) is None
        except UNPROVEN:
            return False

    @cached_property
    def glass(self) -> GlassReview | None:
        """The review of the call, where somebody broke the glass to let it go."""
        return glass.review_of(self.approval) if self.overridden else None

    @property
    def overridden(self) -> Decision | None:
        """The decision that broke the glass."""
        return glass.overridden(self.decisions) if self.approval.status == "approved" else None

    @property
    def may_review_glass(self) -> bool:
        """Whether this reader may say if that was right."""
        return self.glass is not None and glass.may_review(self.glass, self.reader)

    @property
    def may_edit(self) -> bool:
        return self.decidable and self.standing.may_edit

    @property
    def may_reject(self) -> bool:
        return self.decidable and self.standing.may_reject

    @property
    def may_retract(self) -> bool:
        """Whether a vote of this reader's counts that they may still take back."""
        return self.decidable and self.standing.may_retract

    @property
    def may_decide(self) -> bool:
        """Whether there is anything that this reader may say."""
        return self.may_reject or self.may_approve or self.may_respond

    @property
    def may_respond(self) -> bool:
        return self.decidable and self.standing.may_respond

    @property
    def options(self) -> list[str]:
        """What can be chosen, if this is a choice and the reader may make it."""
        return list(self.rule.get("options", [])) if self.may_approve else []

    @cached_property
    def answer(self) -> Decision | None:
        """The answer that ended it, or nothing."""
        said = [one for one in self.decisions if one.verdict in {"respond", "choose"} and one.holds()]
        return said[-1] if said and self.approval.status == "answered" else None

    @property
    def response(self) -> list[Argument]:
        """What was answered, as rows of a table."""
        if self.answer is None or self.answer.verdict != "respond" or requested.is_request(self.answer):
            return []
        value = canonical.parse(self.answer.clear_response())
        schema = self.approval.response_schema if isinstance(value, dict) else {}
        return table(value if isinstance(value, dict) else {"answer": value}, Tool(schema))

    @property
    def wanted(self) -> list[requested.Change]:
        """The changes that were requested in place of a yes or a no."""
        return requested.changes_of(self.answer) if self.answer else []

    @cached_property
    def revised(self) -> Asked | None:
        """What this call revises: the approval by which changes of an earlier one were requested."""
        named = str(self.context.get("revises") or "")
        chain, tool = self.approval.chain, self.approval.tool
        found = requested.of(self.workspace.pk, named, chain=chain, tool=tool) if named else None
        return Asked(self.workspace, found, self.reader) if found else None

    @property
    def revised_fields(self) -> list[Change]:
        """What it has otherwise than the call that it revises, as that stood last."""
        before = self.revised
        return difference(before.last_args, self.last_args, tool_of(self.approval)) if before else []

    def giver(self, said: Decision) -> str:
        """Who said it, and in whose place."""
        name, lender = self.name(said.person), said.in_place_of
        if lender is None:
            return name
        return f"{name} for {'you' if lender.pk == self.reader.pk else lender.name}"

    # Addresses

    @property
    def result_url(self) -> str:
        """Where the machine tells what became of the call, once it was cleared to run."""
        if self.approval.kind == Approval.Kind.CHANGE:
            return ""
        if self.approval.kind == Approval.Kind.OUTCOME:
            return address_of("call", self.workspace.slug, self.approval.subject.partition(":")[0])
        wanted = self.state in {"running", "executed", "failed", "unknown"}
        return address_of("call", self.workspace.slug, self.approval.subject) if wanted else ""
