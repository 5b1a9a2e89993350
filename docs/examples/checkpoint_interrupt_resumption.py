"""One refund from its first checkpoint to its last: the agent stops, two people look, the run goes on where it stood.

Start Placet with `bin/up`, then run this with any Python from 3.11 on; it needs nothing but the standard library:

    python docs/examples/checkpoint_interrupt_resumption.py

It starts a run of the refund desk as a program would, by the API and with an agent's credential, and waits until the
run is suspended. Dana then lowers the amount and Priya agrees, each with a session of their own. At the end it prints
every checkpoint and the proof, read from the ledger and the attempts, that the refund was sent once.

PLACET_HOME is the folder of the running Placet if it is not `var/`.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("PLACET_HOME") or ROOT / "var")
PYTHON = ROOT / ".venv" / "bin" / "python"
ASKED, AGREED = 124_000, 119_000


class Caller:
    """Somebody at the API: a program with a credential, or a person with a session."""

    def __init__(self, url: str, credential: str = "") -> None:
        self.url, self.credential = url, credential
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def sign_in(self, email: str, password: str) -> None:
        page = f"{self.url}/accounts/login/"
        self.opener.open(page).read()
        form = {"login": email, "password": password, "csrfmiddlewaretoken": self._token()}
        self.opener.open(urllib.request.Request(page, urllib.parse.urlencode(form).encode())).read()

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer's JSON. Prints the error and ends if the answer is one."""
        request = urllib.request.Request(f"{self.url}/api/v1{path}", method=method)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        if self.credential:
            request.add_header("Authorization", f"Bearer {self.credential}")
        elif method != "GET":
            request.add_header("X-CSRFToken", self._token())
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with self.opener.open(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")

    def _token(self) -> str:
        return next((cookie.value or "" for cookie in self.cookies if "csrf" in cookie.name), "")


def manage(*words: str) -> str:
    """What a command of manage.py prints."""
    done = subprocess.run(
        [PYTHON if PYTHON.exists() else sys.executable, ROOT / "manage.py", *words],
        env={**os.environ, "PLACET_HOME": str(HOME)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"manage.py {' '.join(words)} failed:\n{done.stderr}")
    return done.stdout.strip()


def wait(agent: Caller, run_id: str, *statuses: str, seconds: float = 60) -> Any:
    """The run, once it has one of these statuses."""
    deadline = time.monotonic() + seconds
    while True:
        run = agent.call("GET", f"/runs/{run_id}")
        if run["status"] in statuses:
            return run
        if time.monotonic() > deadline:
            sys.exit(f"{run_id} is still {run['status']} after {seconds:.0f} s. Is Placet running?")
        time.sleep(0.1)


def say(text: str = "") -> None:
    print(text, flush=True)


def main() -> None:
    url = os.environ.get("PLACET_URL") or json.loads((HOME / "up.json").read_text())["url"]
    passwords = json.loads((HOME / "demo.json").read_text())["people"]
    ticket = manage("demo", "ticket", "T-4478", "--amount", str(ASKED), "--without-run")
    words = ("credentials", "create", "refund-desk", "--workspace", "northwind", "--for", "riley@northwind.example")
    agent = Caller(url, manage(*words, "--days", "1", "--label", "checkpoint example"))
    people = {name: Caller(url) for name in ("dana", "priya")}
    for name, person in people.items():
        person.sign_in(f"{name}@northwind.example", passwords[f"{name}@northwind.example"])
    tell(agent, people, ticket)


def tell(agent: Caller, people: dict[str, Caller], ticket: str) -> None:
    me = agent.call("GET", "/me")
    started = agent.call(
        "POST", "/runs", {"input": {"ticket": ticket}, "title": f"Ticket {ticket}"}, Idempotency_Key=f"example-{ticket}"
    )
    run_id = started["run_id"]
    say(f"{me['agent']} starts {run_id} for ticket {ticket}.")

    run = wait(agent, run_id, "suspended_approval")
    say("\nPre-flight steps")
    for call in run["calls"]:
        if call["status"] == "executed":
            say(f"  step {call['step']}  {call['name']} {json.dumps(call['args'])}: {call['status']}")

    asked_at = max(call["step"] for call in run["calls"])
    at = f"/workspaces/{me['workspace']}/approvals/{run['waiting_for'][0]}"
    asked = people["dana"].call("GET", at)
    say(f"\nPending action: {asked['title']}")
    say(f"  rule {asked['policy_rule_id']} needs {asked['required_approvals']}, revision {asked['revision']}")
    show(asked["action_request"]["args"])
    say(f"  the run waits at checkpoint {run['checkpoint']}, and no worker is busy with it")
    parts(agent.call("GET", f"/runs/{run_id}/checkpoints/{run['checkpoint']}"))

    args = {**asked["action_request"]["args"], "amount": AGREED, "note": "Four of twelve chairs, as agreed"}
    edit = {"verdict": "edit", "edited_action": {"name": asked["action_request"]["name"], "args": args}}
    seen = {"revision": asked["revision"], "action_digest": asked["action_digest"]}
    edited = people["dana"].call("POST", f"{at}/decisions", {**edit, **seen, "message": "One crack is from before."})
    say(f"\nEdited parameters, revision {edited['revision']} by Dana: {edited['approval']['title']}")
    show(edited["approval"]["action_request"]["args"], asked["action_request"]["args"])
    say(f"  {edited['votes']} of {edited['required_approvals']} approvals, {edited['status']}")

    yes = {"verdict": "approve", "revision": edited["revision"], "action_digest": edited["approval"]["action_digest"]}
    approved = people["priya"].call("POST", f"{at}/decisions", yes)
    say(f"\nApproval by Priya: {approved['votes']} of {approved['required_approvals']}, {approved['status']}")

    run = wait(agent, run_id, "completed", "failed", "parked")
    say(f"\nFinalisation: the run is {run['status']}")
    for call in run["calls"]:
        if call["step"] >= asked_at:
            say(f"  step {call['step']}  {call['name']}: {call['status']}, sent {call['attempts']} time(s)")
    finish(agent, run)


def finish(agent: Caller, run: Any) -> None:
    say("\nCheckpoints")
    for each in agent.call("GET", f"/runs/{run['run_id']}/checkpoints")["checkpoints"]:
        changed = ", ".join(change["path"] for change in each["changes"]) or "no change of the state"
        after = f" → {each['next_node']}" if each["next_node"] else ""
        say(f"  {each['number']:>2}  {each['created_at'][11:23]}  {each['kind']:<6} {each['node']}{after}  ({changed})")

    log = agent.call("GET", f"/runs/{run['run_id']}/timeline")
    refund = next(call for call in run["calls"] if call["name"] == "payments.create_refund")
    say(f"\nThe refund: {json.dumps(refund['value'])}, key {refund['idempotency_key'][:16]}…")
    say("Nothing happened twice, and nothing unasked." if not log["doubts"] else "\n".join(log["doubts"]))
    if log["doubts"] or run["status"] != "completed" or refund["value"]["amount"] != AGREED:
        sys.exit(1)


def parts(checkpoint: dict[str, Any]) -> None:
    """A checkpoint, each part apart."""
    say("\nWhat the checkpoint holds")
    for name, value in checkpoint.items():
        text = json.dumps(value, ensure_ascii=False)
        say(f"    {name:<15} {text if len(text) <= 160 else text[:160] + ' …'}")


def show(args: dict[str, Any], before: dict[str, Any] | None = None) -> None:
    for name, value in args.items():
        was = f"   (was {json.dumps((before or args).get(name))})" if value != (before or args).get(name) else ""
        say(f"    {name:<10} {json.dumps(value, ensure_ascii=False)}{was}")


if __name__ == "__main__":
    main()
