"""`bin/prove NAME` and `bin/bench NAME`: run one campaign, print its figures, exit 0 exactly when it is ok."""

from __future__ import annotations

import argparse
import importlib
import json
import random
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, Final

from runtime.children import CannotStart
from tests.campaigns.stage import Stage, tell

CAMPAIGNS: Final = {
    "prove": {
        "kill": "SIGKILL of every process, at named points and at random: everything completes, once",
        "tools": "every recorded tool call: held, shown whole, edited in the form, sent byte for byte as approved",
        "race": "people who decide, step, cancel and expire at the same instant: one winner, nobody stuck",
    },
    "bench": {
        "decide": "milliseconds from a decision that is posted to the tool that is called",
        "idle": "memory and processor time of the whole stack while many runs wait for people",
    },
}
"""What there is, by verb. A campaign is the module of its name here: `run(stage, options) -> (ok, figures)`."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The verb, the campaign and its options; what an option means by itself is the campaign's to say."""
    parser = argparse.ArgumentParser(prog="bin/prove or bin/bench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, campaigns in CAMPAIGNS.items():
        told = "\n".join(f"  {name:<8} {purpose}" for name, purpose in campaigns.items())
        one = verbs.add_parser(
            verb, prog=f"bin/{verb}", description=told, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        one.add_argument("name", choices=campaigns)
        one.add_argument("--seed", type=int, help="repeat the choices of an earlier run (drawn if not given)")
        one.add_argument("--rounds", type=int, metavar="N", help="how often")
        one.add_argument("--runs", type=int, metavar="N", help="idle: how many runs wait")
        one.add_argument("--period", type=float, metavar="SECONDS", help="idle: for how long it is watched")
        one.add_argument("--hasten", action="store_true", help="kill: let the leases of killed workers end at once")
        one.add_argument("--cases", type=Path, metavar="DIR", help="a folder of recorded tools and calls")
        one.add_argument("--keep-logs", type=Path, metavar="DIR", help="copy the processes' logs there at the end")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    options.seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    signal.signal(signal.SIGTERM, _interrupt)
    began = time.monotonic()
    try:
        with Stage(keep_logs=options.keep_logs) as stage:
            campaign = importlib.import_module(f"tests.campaigns.{options.name}")
            ok, figures = campaign.run(stage, options)
    except KeyboardInterrupt:
        tell("Interrupted; everything that was started is stopped.")
        return 130
    except CannotStart as problem:
        tell(str(problem))
        return 1
    head: dict[str, Any] = {"name": f"{options.verb} {options.name}", "ok": ok}
    timing = {"seconds": round(time.monotonic() - began, 1), "seed": options.seed}
    print(json.dumps(head | timing | figures), flush=True)  # noqa: T201 - the figures are what this program is for
    return 0 if ok else 1


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
