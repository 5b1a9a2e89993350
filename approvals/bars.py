"""Bars: the seats that a rule wants filled, who can fill them, and the bar of two rules together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from approvals import deputies, escalation, people, policy_glass, policy_words
from approvals.deputies import Eligible
from approvals.people import Team
from approvals.policy_documents import PolicyFault


def seats(rule: Mapping[str, Any]) -> list[str]:
    """One team slug for each yes that the rule needs."""
    return [need["team"] for need in rule["approvals"] for _ in range(need["count"])]


def filled(needed: Sequence[str], teams_of: Iterable[Collection[str]]) -> int:
    """How many seats these people fill at most, each person one seat (maximum matching by augmenting paths)."""
    holder: dict[int, int] = {}
    voters = list(teams_of)

    def place(voter: int, seen: set[int]) -> bool:
        for seat, team in enumerate(needed):
            if team in voters[voter] and seat not in seen:
                seen.add(seat)
                if seat not in holder or place(holder[seat], seen):
                    holder[seat] = voter
                    return True
        return False

    return sum(place(voter, set()) for voter in range(len(voters)))


def eligible(workspace_id: UUID, rule: Mapping[str, Any], *, level: int = 0) -> Eligible:
    """Who may decide under the rule now, with the seats they may take in their own right or in the place of others;
    ``level`` is how often it has escalated."""
    wanted, more = {need["team"] for need in rule["approvals"]}, escalation.added(rule, level)
    able = deputies.with_deputies(workspace_id, people.deciders_of(workspace_id, wanted | set(more)))
    return escalation.with_more(able, wanted, more) if more else able


def satisfiable(workspace_id: UUID, rule: Mapping[str, Any], *, without: Iterable[UUID] = ()) -> bool:
    """Whether enough people are left to meet the rule. Lent seats add none: a deputy only stands in for another."""
    needed, barred = seats(rule), set(without)
    own = people.deciders_of(workspace_id, needed)
    return filled(needed, [teams for key, teams in own.items() if key not in barred]) == len(needed)


def check_people(workspace_id: UUID, rules: Sequence[Mapping[str, Any]]) -> None:
    """That the workspace has the teams that rules name, and people enough. Raises PolicyFault."""
    known = set(Team.objects.filter(workspace_id=workspace_id).values_list("slug", flat=True))
    for index, rule in enumerate(rules):
        for place, need in enumerate(rule["approvals"]):
            if need["team"] not in known:
                pointer = f"/rules/{index}/approvals/{place}/team"
                raise PolicyFault(pointer, "team", f"The workspace has no team {need['team']}.")
        _check_levels(workspace_id, rule, known, f"/rules/{index}/escalate")
        for at, team in policy_glass.teams(rule):
            if not people.deciders_of(workspace_id, [team]):
                told = f"Nobody may decide for a team {team}, so nobody could do this."
                raise PolicyFault(f"/rules/{index}{at}", "team", told)
        if not satisfiable(workspace_id, rule):
            message = (
                f"Rule {rule['id']} needs {len(seats(rule))} people, and fewer may decide: nobody could satisfy it."
            )
            raise PolicyFault(f"/rules/{index}/approvals", "satisfiable", message)


def _check_levels(workspace_id: UUID, rule: Mapping[str, Any], known: set[str], pointer: str) -> None:
    for index, level in enumerate(escalation.levels(rule)):
        for place, team in enumerate(level["teams"]):
            if team not in known:
                told = f"The workspace has no team {team}."
                raise PolicyFault(f"{pointer}/{index}/teams/{place}", "team", told)
        if not people.deciders_of(workspace_id, level["teams"]):
            told = "Nobody may decide for these teams, so the level would add nobody."
            raise PolicyFault(f"{pointer}/{index}/teams", "satisfiable", told)


def stricter(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The bar of two rules together: an edit may raise what people must meet and never lowers it."""
    counts = Counter(seats(before)) | Counter(seats(after))
    kept = [word for word in before["allowed_decisions"] if word in after["allowed_decisions"] or word == "reject"]
    risks = [rule["risk"] for rule in (before, after) if "risk" in rule]
    both = {
        **before,
        **({"risk": policy_words.riskiest(risks)} if risks else {}),
        "id": after["id"],
        "reason": after["reason"],
        "approvals": [{"team": team, "count": count} for team, count in counts.items()],
        "prevent_self_review": before["prevent_self_review"] or after["prevent_self_review"],
        "editor_may_approve": before["editor_may_approve"] and after["editor_may_approve"],
        "allowed_decisions": kept,
        "editable": _both(before["editable"], after["editable"]),
        **policy_words.stricter(before, after),
    }
    # What only one of them grants, neither grants any more.
    return {name: said for name, said in both.items() if said is not None or name not in policy_words.WORDS}


def leaves_a_yes(rule: Mapping[str, Any]) -> bool:
    """Whether a rule lets anybody say more than no: two rules together may leave nothing else."""
    return bool({"approve", "respond"} & set(rule["allowed_decisions"]))


def _both(one: list[str] | None, other: list[str] | None) -> list[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return [pointer for pointer in one if pointer in other]
