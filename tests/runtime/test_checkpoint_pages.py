"""The page of a checkpoint: its state as a tree, what differs from another, and what it says where nothing can be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals import people
from runtime import definitions, retention, runs
from runtime.agents.agent import Step
from runtime.agents.graph import Graph
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.runtime.conftest import Desk
from tests.runtime.test_pages import RUNS, reads

__all__ = ["reads"]
pytestmark = pytest.mark.committed
Reads = Callable[..., Client]


def words(answer: Any) -> str:
    """The page as it is read, without its tags."""
    return " ".join(re.sub("<[^>]*>", " ", answer.content.decode()).split())


def at(run: Run, number: int, query: str = "") -> str:
    return f"{RUNS}/{run.public_id}/checkpoints/{number}{query}"


tickets = Graph("tickets", entry="open_it")


@tickets.node
def open_it(state: Any, results: Any) -> Step:
    update = {"ticket": {"id": 4471, "status": "open"}, "many": list(range(300)), "password": "hush"}
    return Step(update=update, goto="close_it")


@tickets.node
def close_it(state: Any, results: Any) -> Step:
    return Step(update={"ticket": {"id": 4471, "status": "closed"}}, done=True)


@pytest.fixture
def run(desk: Desk) -> Run:
    """A run whose second step changed what the first one kept."""
    agent = definitions.register_agent(desk.cast.northwind.pk, "clerk", "graph", {"graph": "tickets"}, by="system")
    people.grant(desk.cast.omar, "operate", agent, by="system")
    by: dict[str, Any] = {"by": desk.cast.riley.public_id, "requester_id": desk.cast.riley.pk}
    return desk.work(runs.start(desk.cast.northwind.pk, agent, input={}, title="Ticket 4471", **by))


def test_a_checkpoint_shows_what_changed_since_the_one_before(desk: Desk, reads: Reads, run: Run) -> None:
    steps = list(Checkpoint.objects.filter(run=run, kind="step").order_by("seq"))
    page = words(reads(desk.cast.omar).get(at(run, steps[1].seq)))
    assert "removed: status open" in page and "added: status closed" in page and "many [300] unchanged" in page
    assert f"Follows checkpoint {steps[1].seq - 1}; verified just now" in page


def test_any_two_checkpoints_are_compared_by_the_address(desk: Desk, reads: Reads, run: Run) -> None:
    client = reads(desk.cast.omar)
    page = words(client.get(at(run, run.head_seq, "?with=1")))
    assert f"from checkpoint 1 to checkpoint {run.head_seq}" in page and "added: ticket" in page
    back = words(client.get(at(run, 1, f"?with={run.head_seq}")))
    assert "removed: ticket" in back


def test_a_large_branch_is_paged_and_says_how_much_is_left(desk: Desk, reads: Reads, run: Run) -> None:
    client = reads(desk.cast.omar)
    assert "many [300]" in words(client.get(at(run, run.head_seq, "?show=all")))
    branch = client.get(at(run, run.head_seq, "?at=/many&show=all"))
    assert "200 more entries" in words(branch) and "The whole state › many" in words(branch)
    after = re.search(r'href="([^"]*after=100[^"]*)"', branch.content.decode())
    assert after and "101 100" in words(client.get(after[1].replace("&amp;", "&")))


@pytest.mark.parametrize("wanted", ["0", "x", "99", "-1", "1" * 40, "²", "2"])
def test_a_comparison_with_none_is_refused_at_the_field(desk: Desk, reads: Reads, run: Run, wanted: str) -> None:
    """A number of the address is one of the run's, or is answered in words."""
    answer = reads(desk.cast.omar).get(at(run, 2), {"with": wanted})
    assert answer.status_code == 200 and 'aria-invalid="true"' in answer.content.decode()


@pytest.mark.parametrize(
    "query", ["?at=/nothing", "?at=x", "?at=/a~2", "?after=x&show=all", "?show=x", "?was=/q", "?at=%00"]
)
def test_no_address_breaks_the_page(desk: Desk, reads: Reads, run: Run, query: str) -> None:
    assert reads(desk.cast.omar).get(at(run, 2, query)).status_code in {200, 404}


def test_a_checkpoint_that_is_none_and_a_foreign_one_are_not_found(desk: Desk, reads: Reads, run: Run) -> None:
    """WB-4."""
    answers = [reads(desk.cast.omar).get(at(run, number)) for number in (0, run.head_seq + 1, 10**30)]
    answers.append(reads(desk.cast.oskar).get(at(run, 1)))
    assert {answer.status_code for answer in answers} == {404}


def test_who_may_not_read_the_state_is_told_why(desk: Desk, reads: Reads, run: Run) -> None:
    answer = reads(desk.cast.dana).get(at(run, 1))
    assert answer.status_code == 403 and "operate its agent or audit" in words(answer)


def test_a_pruned_state_names_the_first_that_can_be_read(desk: Desk, reads: Reads, run: Run) -> None:
    retention.prune(run, by=desk.cast.omar.public_id, keep=1)
    client, first = reads(desk.cast.omar), run.head_seq - 1
    assert f"Checkpoint {first} is the first that can still be read" in words(client.get(at(run, 1)))
    assert "4471" in words(client.get(at(run, first, "?show=all")))
    assert "So all of the state is shown" in words(client.get(at(run, run.head_seq, "?with=1")))


def test_an_erased_state_is_said_to_be_erased(desk: Desk, reads: Reads, run: Run) -> None:
    retention.erase(run, by=desk.cast.omar.public_id)
    page = words(reads(desk.cast.omar).get(at(run, 2)))
    assert "what this run kept is gone" in page and "4471" not in page.replace("Ticket 4471", "")


def test_a_state_that_was_tampered_with_is_not_shown(desk: Desk, reads: Reads, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(head_mac=b"x" * 34)
    page = words(reads(desk.cast.omar).get(at(run, run.head_seq, "?show=all")))
    assert (
        "names another checkpoint" in page
        and "Nothing of it is shown" in page
        and "4471" not in page.replace("Ticket 4471", "")
    )
