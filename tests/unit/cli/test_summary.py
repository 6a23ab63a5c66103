"""What `switchyard check` shows of a good configuration."""

import pytest

from switchyard.cli.summary import summary
from switchyard.config.config import Config

SPEC = {"spec": {"templates": [{"name": "main", "suspend": {}}]}}


def test_every_workflow_states_what_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    actions = {"argo": {"type": "argo", "namespace": "n", "template": "usual"}, "none": {"type": "noop"}}
    workflows = {
        "placed": {"action": "argo", "manifest": SPEC},
        "named": {"action": "argo", "template": "own"},
        "default": {"action": "argo"},
        "nothing": {"action": "none"},
    }
    summary(Config.model_validate({"actions": actions, "workflows": workflows}))
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    shown = {words[0].strip(): [word.strip() for word in words if word.strip()] for words in lines}
    assert {name: shown[name][2] for name in workflows} == {
        "placed": "a manifest written in place", "named": "own", "default": "usual", "nothing": "-",
    }  # fmt: skip


def test_newuser_2_what_is_handed_over_is_not_counted_as_limited(capsys: pytest.CaptureFixture[str]) -> None:
    """30 processes ran at once where `check` had printed "4 at a time"."""
    actions = {
        "shell": {"type": "local", "spool": "/tmp/spool", "concurrency": 4},
        "hook": {"type": "http", "request": {"url": "https://a.example"}, "concurrency": 5},
    }
    summary(Config.model_validate({"actions": actions}))
    shown = capsys.readouterr().out
    assert "4 dispatches at a time, running ones not limited" in shown
    assert "5 at a time," in shown
