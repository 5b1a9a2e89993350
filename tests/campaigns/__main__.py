"""`bin/prove NAME` and `bin/bench NAME`: run one campaign, print its figures, exit 0 exactly when it is ok.

The suite runs them in small, `small NAME …`: in a row on one stage, with fixed seeds, a line of figures each.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Final

from runtime.children import CannotStart
from tests.campaigns.stage import Stage, tell

CAMPAIGNS: Final = {
    "prove": {
        "kill": "SIGKILL of every process, at named points and at random: everything completes, once",
        "model": "every state of the protocol's model: no law is broken, and every mutant of it is found",
        "tools": "every recorded tool call: held, shown whole, edited in the form, sent byte for byte as approved",
        "forms": "every recorded tool's form comes back as it was drawn; every edit is made by hand in a browser",
        "access": "every state of every page in every look, to axe; bin/screens takes the pictures of them",
        "musts": "every rule that docs/musts.md calls built has tests that name it, and all of them pass",
        "tamper": "rows changed past Placet in every way: each is caught, and nothing is sent",
        "race": "people who decide, step, cancel and expire at the same instant: one winner, nobody stuck",
    },
    "bench": {
        "decide": "milliseconds from a decision that is posted to the tool that is called",
        "steps": "steps a second and bytes a step, reading a long run, beside LangGraph and DBOS with --rivals",
        "inbox": "inbox, review page and history among 100,000 approvals; entries of the ledger verified a second",
        "idle": "memory and processor time of the whole stack while many runs wait for people",
    },
}
"""What there is, by verb. A campaign is the module of its name here: `run(stage, options) -> (ok, figures)`."""
SMALL: Final[dict[str, dict[str, Any]]] = {
    "decide": {"rounds": 5, "seed": 1},
    "idle": {"runs": 5, "period": 2.0, "seed": 1},
    "race": {"rounds": 12, "seed": 1},
    "kill": {"rounds": 20, "seed": 2, "hasten": True},
    "inbox": {"n": 100, "rounds": 9, "seed": 1},
    "steps": {"n": 30, "rounds": 1, "seed": 1},
    "tools": {"cases": Path("tests/tools"), "seed": 1},
    "forms": {"cases": Path("tests/tools"), "seed": 1},
    "tamper": {"rounds": 1, "seed": 1},
}
"""How small each is in the suite. The recorded tools come late, for they need a policy of their own, and tampering
comes last: it sends the workers home."""
ALONE: Final = frozenset({"access", "model", "musts"})
"""Campaigns that need no Placet: they are given None for a stage."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The verb, the campaigns and the options; what an option means by itself is the campaign's to say."""
    parser = argparse.ArgumentParser(prog="bin/prove or bin/bench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, campaigns in CAMPAIGNS.items():
        told = "\n".join(f"  {name:<8} {purpose}" for name, purpose in campaigns.items())
        one = verbs.add_parser(
            verb, prog=f"bin/{verb}", description=told, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        one.add_argument("names", nargs=1, metavar="name", choices=campaigns)
        one.add_argument("--seed", type=int, help="repeat the choices of an earlier run (drawn if not given)")
        one.add_argument("--rounds", type=int, metavar="N", help="how often")
        one.add_argument("--runs", type=int, metavar="N", help="idle: how many runs wait")
        one.add_argument("--period", type=float, metavar="SECONDS", help="idle: for how long it is watched")
        one.add_argument(
            "--n", type=int, metavar="N", help="steps: how many steps a run has; inbox: how many approvals"
        )
        one.add_argument("--bytes", type=int, metavar="N", help="steps: how many characters each step adds")
        one.add_argument("--rivals", action="store_true", help="steps: measure the rivals too, in turn")
        one.add_argument("--hasten", action="store_true", help="kill: let the leases of killed workers end at once")
        one.add_argument("--cases", type=Path, metavar="DIR", help="a folder of recorded tools and calls")
        one.add_argument("--keep-logs", type=Path, metavar="DIR", help="copy the processes' logs there at the end")
    small = verbs.add_parser("small")
    small.add_argument("names", nargs="+", choices=SMALL)
    nothing = {"seed": None, "rounds": None, "runs": None, "period": None, "hasten": False, "cases": None}
    small.set_defaults(**nothing, n=None, bytes=None, rivals=False, keep_logs=None)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    # A shell that starts this in the background has it ignore SIGINT.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    try:
        needed = not ALONE.issuperset(options.names)
        with Stage(keep_logs=options.keep_logs) if needed else nullcontext() as stage:
            results = [play(stage, name, options) for name in options.names]
    except KeyboardInterrupt:
        tell("Interrupted; everything that was started is stopped.")
        return 130
    except CannotStart as problem:
        tell(str(problem))
        return 1
    return 0 if all(results) else 1


def play(stage: Stage | None, name: str, options: argparse.Namespace) -> bool:
    """Run one campaign on a stage and print its figures; whether it is ok."""
    small = SMALL[name] if options.verb == "small" else {}
    own = argparse.Namespace(**vars(options) | small)
    own.seed = random.SystemRandom().randrange(1_000_000) if own.seed is None else own.seed
    began = time.monotonic()
    campaign = importlib.import_module(f"tests.campaigns.{name}")
    ok, figures = campaign.run(stage, own)
    head: dict[str, Any] = {"name": f"{options.verb} {name}", "ok": ok}
    timing = {"seconds": round(time.monotonic() - began, 1), "seed": own.seed}
    print(json.dumps(head | timing | figures), flush=True)
    return bool(ok)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
