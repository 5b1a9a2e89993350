"""Spin over `placet.pml`: the scenes that are searched whole, and the mutants of which each has to be found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

MODEL: Final = Path(__file__).resolve().parent / "placet.pml"
TEXT: Final = MODEL.read_text("utf-8")


@dataclass(frozen=True)
class Scene:
    """What may happen (names of the model) and how often the run may be claimed."""

    name: str
    may: tuple[str, ...]
    claims: int

    @property
    def number(self) -> int:
        return sum(constant(word) for word in self.may)


@dataclass(frozen=True)
class Search:
    """What a search found: the laws that were broken, the states seen, the places never come to."""

    broken: frozenset[str]
    states: int
    unreached: frozenset[tuple[str, int]]


SCENES: Final = (
    Scene("people decide, edit, come too late; the run is cancelled", ("EDITS", "CANCELS", "EXPIRY"), 2),
    Scene("one call is sent, refused, sent again", ("FREE", "CANCELS", "STUMBLES", "REFUSALS", "TIGHT"), 3),
    Scene("two calls, one of them held", ("SECOND",), 2),
    Scene("two calls under a tight budget", ("FREE", "SECOND", "TIGHT"), 3),
    Scene("two calls of a run that is cancelled", ("FREE", "SECOND", "CANCELS"), 2),
)
"""Small: some seconds in all."""
LARGE: Final = (
    *SCENES,
    Scene("people, with three claims", ("EDITS", "CANCELS", "EXPIRY", "STUMBLES"), 3),
    Scene("one call, with four claims", ("FREE", "CANCELS", "STUMBLES", "REFUSALS", "TIGHT"), 4),
    Scene("two calls and a cancel, with three claims", ("FREE", "SECOND", "CANCELS"), 3),
    Scene("two calls, three claims, a tight budget", ("FREE", "SECOND", "TIGHT", "REFUSALS"), 3),
    Scene("a quorum, and a second call", ("SECOND",), 3),
    Scene("a quorum that edits, and a second call", ("SECOND", "EDITS", "EXPIRY"), 2),
    Scene(
        "everything that two claims allow", ("FREE", "SECOND", "CANCELS", "STUMBLES", "REFUSALS", "TIGHT", "EXPIRY"), 2
    ),
)
"""The same and more: some minutes and gigabytes."""

ONE, TWO = ("FREE",), ("SECOND",)
MUTANTS: Final = {
    "NO_CAS": (("EDITS",), 2),
    "COUNT_FIRST": ((), 2),
    "VOTES_SURVIVE": (("EDITS",), 2),
    "ANY_REVISION": (("EDITS",), 2),
    "NO_FENCE": (ONE, 2),
    "NO_HEAD": (ONE, 2),
    "BLIND_RESEND": (ONE, 2),
    "NO_QUIET": (ONE, 3),
    "NO_DEADLINE": (ONE, 2),
    "NO_OBEY": ((*ONE, "CANCELS"), 2),
    "NO_POKES": (TWO, 2),
    "NO_HOLD": ((*ONE, "TIGHT"), 3),
    "FORGET_HOLD": (ONE, 2),
    "ANY_ATTEMPT": ((*ONE, "REFUSALS"), 3),
    "NO_CLAIM_CAS": (ONE, 2),
    "LEAVE_OPEN": (("CANCELS",), 3),
    "STEP_EARLY": (TWO, 2),
    "NO_TAKE_OVER": (ONE, 2),
    "GIVE_UP": (ONE, 2),
    "NO_WAKE": ((), 2),
    "FORGET_LOST": ((*ONE, "REFUSALS"), 3),
    "NO_CLEARANCE": (TWO, 2),
    "ASSUME_DONE": (ONE, 2),
    "EXPIRE_ANY": ((), 2),
}
"""What the protocol may not do without, each with the smallest scene in which it shows."""


def constant(name: str) -> int:
    """The value of one of the model's names."""
    found = re.search(rf"^#define {name}\s+(\d+)\b", TEXT, re.MULTILINE)
    assert found, f"the model has no {name}"
    return int(found[1])


def named(first: str, last: str) -> dict[int, str]:
    """The numbered names from one to another, as they stand in the model."""
    part = TEXT[TEXT.index(f"#define {first} ") : TEXT.index("\n", TEXT.index(f"#define {last} "))]
    return {int(number): name for name, number in re.findall(r"^#define (\w+)\s+(\d+)\b", part, re.MULTILINE)}


ENOUGH: Final = 40
"""How often laws may be broken before a search ends."""
LAWS: Final = named("ONE_VERDICT", "MOVES_AS_LISTED")
BROKEN: Final = named("NO_CAS", "EXPIRE_ANY")


CHANGE: Final = re.compile(
    r"\s*state\s+(?P<state>\d+) -.*:(?P<line>\d+) => (?P<change>(?:Run|Call|Approval|witness)\b[^=]* = \w+)$"
)
"""A statement, as the compiled model lists it, that changes a status or a witness."""


class Checker:
    """The model, compiled once into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(MODEL, folder)
        self._run("spin", "-a", MODEL.name)
        self._run("cc", "-w", "-O0", "-DSAFETY", "-DVECTORSZ=2048", "-o", "pan", "pan.c")

    def _run(self, *words: str, **env: str) -> str:
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **env}, capture_output=True, text=True)
        assert done.returncode == 0, f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def search(self, scene: Scene, broken: str = "") -> Search:
        """Look at every state of a scene, of the protocol or of a mutant; ends when laws were broken some times."""
        env = {
            "SCENE": str(scene.number),
            "CLAIMS": str(scene.claims),
            "BROKEN": str(constant(broken) if broken else 0),
        }
        # -E: that processes wait for ever at the end is what the model's `judge` looks at.
        told = self._run("./pan", "-E", "-m20000", "-w20", f"-c{ENOUGH}", **env)
        assert "max search depth too small" not in told and "out of memory" not in told, told
        laws = re.findall(r"assertion violated .*\|\|\((\d+)==0\)\)", told)
        states = re.search(r"^\s*(\d+) states, stored", told, re.MULTILINE)
        assert states and ("errors: 0" in told or laws), told
        return Search(frozenset(LAWS[int(number)] for number in laws), int(states[1]), _unreached(told))

    @cached_property
    def changes(self) -> dict[str, set[tuple[str, int]]]:
        """Every change of a status in the model and every witness, by its line, with the places that an inline makes
        of it."""
        found: dict[str, set[tuple[str, int]]] = {}
        process = ""
        for line in self._run("./pan", "-d").splitlines():
            if line.startswith("proctype"):
                process = line.split()[1]
            elif (place := CHANGE.match(line)) and not _of_a_mutant(int(place["line"])):
                found.setdefault(f"line {place['line']}: {place['change']}", set()).add((process, int(place["state"])))
        return found


def _of_a_mutant(number: int) -> bool:
    line = TEXT.splitlines()[number - 1]
    return "broken == " in line and "move(" not in line


def _unreached(told: str) -> frozenset[tuple[str, int]]:
    found = set()
    process = ""
    for line in told.splitlines():
        if heading := re.match(r"unreached in (?:proctype )?(\w+)", line):
            process = heading[1]
        elif place := re.match(r"\s+\S+:\d+, state (\d+),", line):
            found.add((process, int(place[1])))
    return frozenset(found)
