"""What the yard of the campaign is configured to do: actions, workflows, their callbacks.

Every time-out is shrunk, so that a fault longer than all of them lasts seconds.
"""

import sys
from pathlib import Path
from typing import Any

from tests.faults import openness, process

PATIENT = {"attempts": 200, "base": "100ms", "factor": 1.3, "max": "1s"}
AGAIN = {"attempts": 50, "base": "100ms", "factor": 1.2, "max": "500ms"}

TELL = {
    "how": {"value": "accept"},
    "n": {"path": "$.input.n"},
    "status": {"path": "$.workflow.status"},
}
DONE = {"name": "done", "action": "often", "parameters": TELL}
REPORTED = {"name": "reported", "action": "once", "when": ["SUCCESSFUL"], "parameters": TELL}
SORRY = {"name": "sorry", "action": "often", "when": ["failed"], "parameters": TELL}
ITEM = {"name": "item", "action": "drill", "when": ["SUCCESSFUL"], "for": "items",
        "parameters": {"place": {"path": "$.item.place"}}}  # fmt: skip
NEXT = {"name": "next", "action": "run", "workflow": "report", "when": ["SUCCESSFUL"],
        "input": {"path": "$.input"}}  # fmt: skip


def settings() -> dict[str, Any]:
    """What does not depend on where things run."""
    return {
        "database": {"url": "env:DATABASE_URL"},
        "conductor": {"poll": "1s", "grace": "10s", "health": {"port": 0}},
        "caboose": {"poll": "500ms", "grace": "10s", "health": {"port": 0}},
        "signalbox": {"access": {"anonymous": "operator"}, "grace": "10s", "health": {"port": 0}},
        # Losing workers is what this is for: no name is to be paused for it.
        "workers": {"beat": "500ms", "lost_after": "3s", "min_lost": 1_000_000},
    }


def webhooks(url: str) -> dict[str, Any]:
    """Both deliveries, a receiver that never takes anything, and a drill."""
    hook = {
        "type": "http",
        "allow_networks": ["127.0.0.0/8"],
        "concurrency": 20,
        "timeout": "2s",
        "request": {"url": url + "/{{ action.name }}/{{ action.uuid }}/{{ parameters.how }}"},
        "retry": PATIENT,
    }
    return {
        "often": hook,
        "once": {**hook, "delivery": "at_most_once"},
        "hopeless": {**hook, "retry": {**PATIENT, "attempts": 3}},
        "frozen": {**hook, "retry": {"attempts": 2, "base": "100ms"}},
        "laned": {
            **hook,
            "lane": "$.lane",
            "limits": {
                "in_flight": openness.LIMIT,
                "per_lane": {
                    "in_flight": openness.LANE_LIMIT,
                    "rate": f"{openness.RATE}/s",
                    "burst": openness.BURST,
                },
            },
        },
        "drill": {"type": "noop"},
    }


def local(spool: Path, starts: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The action and the workflows of local processes."""
    action = {"type": "local", "spool": str(spool), "concurrency": 4, "retry": PATIENT, "grace": "1s"}
    template = [sys.executable, "-S", process.__file__, str(starts)]
    shared = {"action": "run", "template": template, "retry": AGAIN, "timeout": "10m"}
    return {"run": action}, {
        "work": {**shared, "callbacks": [DONE, REPORTED, SORRY, ITEM], "limits": {"running": 10}},
        "first": {**shared, "callbacks": [DONE, NEXT]},
        "report": {**shared, "callbacks": [DONE]},
        "tile": {
            **shared,
            "callbacks": [DONE, REPORTED, SORRY],
            "reuse": {"version": "1", "key": ["$.tile"]},
        },
    }
