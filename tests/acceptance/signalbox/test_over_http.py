"""`switchyard --url …`: the command line of people without access to the database."""

import json
import os
import subprocess
from pathlib import Path
from uuid import UUID

from tests.acceptance.signalbox.test_clients import Served, served
from tests.deployment.deployment import BIN

__all__ = ["served"]


def run(served: Served, *argv: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    """The command with nothing that leads to the database: no file, no PG* variable."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(served.folder), "PGHOST": "/nowhere"}
    environ["SWITCHYARD_TOKEN"] = served.token if token is None else token
    return subprocess.run(
        [BIN / "switchyard", *argv], env=environ, cwd="/", capture_output=True, text=True, check=False
    )


def answer(served: Served, *argv: str) -> str:
    done = run(served, "--url", served.url, *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_job_is_submitted_followed_and_decided_about(served: Served, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text('{"scene": "S2A"}')
    submit = ("submit", "-w", "nutrient", "-p", f"@{tmp_path / 'input.json'}", "--key", "1", "--lane", "ann")
    job = answer(served, *submit)
    assert answer(served, *submit) == job
    assert served.database.execute("select parameters, lane, submitted_by from switchyard.action") == [
        ({"scene": "S2A"}, "ann", "token:test")
    ]
    later = answer(
        served, "submit", "-w", "nutrient", *submit[3:5], "--after", "10m", "--wait-for", job[-12:]
    )
    assert served.database.execute(
        "select after, start_after > now() from switchyard.action where action_uuid = %s", later
    ) == [([UUID(job)], True)]
    answer(served, "cancel", later, "-m", "later")
    assert f"…{job[-8:]}" in answer(served, "list", "--status", "accepted", "--since", "1h")
    assert answer(served, "list", "--lane", "bob") == "No job matches."
    assert "run" in answer(served, "why", job[-8:])
    served.ledger.event(UUID(job), "FAILED", 1)
    served.database.execute("update switchyard.thread set callbacks_due = false returning 1")
    followed = run(served, "watch", job, "--url", served.url, "--json")
    assert (followed.returncode, json.loads(followed.stdout)["status"]) == (1, "failed")
    assert "FAILED" in answer(served, "show", job[:13])
    assert json.loads(answer(served, "events", job, "--json"))[-1]["status"] == "FAILED"
    assert job in answer(served, "inbox")
    assert answer(served, "retrigger", job, "-m", "again") == "retrigger: 1 of 1, 0 refused."
    assert answer(served, "cancel", "--workflow", "nutrient", "-m", "wrong", "--yes") == (
        "cancel: 1 of 1, 0 refused."
    )
    assert json.loads(answer(served, "list", "--json"))[0]["status"] == "dismissed"


def test_queues_and_workers(served: Served) -> None:
    assert answer(served, "pause", "a/b", "-m", "maintenance") == "a/b is paused"
    assert served.database.execute("select action_name, actor, reason from switchyard.paused") == [
        ("a/b", "token:test", "maintenance")
    ]
    assert answer(served, "pause", "a/b", "-m", "maintenance") == "a/b is already paused"
    assert answer(served, "resume", "a/b", "-m", "done") == "a/b is not paused"
    assert answer(served, "workers") == "No workers."
    assert answer(served, "inbox", "--by-cause") == "The inbox is empty."


def test_what_goes_wrong_is_explained(served: Served) -> None:
    expected = [
        (
            ("--url", served.url, "migrate"),
            65,
            "migrate needs the database; with --url there are submit, list",
        ),
        (("--url", "jobs.example", "list"), 65, "is not an address like https://jobs.example"),
        (("--url", "http://127.0.0.1:1", "list"), 75, "signalbox cannot be reached"),
        (("--url", served.url, "submit", "-w", "nutrient"), 65, "'scene' is a required property"),
        (("--url", served.url, "submit", "-w", "nutrient", "-p", "[]"), 65, "must be a JSON object"),
        (("--url", served.url, "show", "0000"), 65, "none of the newest jobs"),
        (("--url", served.url, "cancel", "-m", "x"), 65, "give ids or filters"),
        (("--url", served.url, "retrigger", "--name", "x", "-m", "x"), 65, "give --yes"),
    ]
    for argv, code, text in expected:
        done = run(served, *argv)
        assert (done.returncode, text in done.stderr) == (code, True), (argv, done.returncode, done.stderr)
    refused = run(served, "--url", served.url, "list", token="sb_wrong")
    assert refused.returncode == 1
    assert "401: this request has no valid credentials" in refused.stderr
    assert "sb_wrong" not in refused.stderr
