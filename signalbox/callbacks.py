"""Callbacks and subscribers of a job that was submitted over HTTP.

A callback submits another action with parameters of the caller's choice. Over HTTP it may only name actions
that the configuration lists: a token that may submit jobs must not call arbitrary addresses with our secrets.
"""

import json
from collections.abc import Sequence
from typing import Any

from signalbox.endpoint import Call
from signalbox.pointer import pointer
from signalbox.problem import HttpProblem
from signalbox.records.execution import Execute, Subscriber
from switchyard.config.problems import Problem
from switchyard.submit.check import check_callbacks


def callbacks_of(call: Call, body: Execute) -> str | None:
    """The callbacks of a job as JSON, if it has any."""
    listed = [*_own(call, body.switchyard.callbacks or []), *_subscribers(call, body.subscriber)]
    return json.dumps(listed) if listed else None


def _own(call: Call, callbacks: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    config = call.site.config
    allowed = config.signalbox.callback_actions
    problems = [
        Problem(("callbacks", number, "action"), "is not one that callbacks over HTTP may call")
        for number, each in enumerate(callbacks)
        if each.get("action") not in allowed
    ]
    if not problems:
        _, problems = check_callbacks(callbacks, config if config.actions else None)
    if problems:
        errors = [
            {"pointer": pointer(("switchyard", *each.path)), "detail": each.message} for each in problems[:20]
        ]
        detail = "; ".join(f"{each['pointer']}: {each['detail']}" for each in errors[:3])
        raise HttpProblem(422, detail, errors=errors)
    return callbacks


def _subscribers(call: Call, subscriber: Subscriber | None) -> list[dict[str, Any]]:
    """They are called by an action of type http, which refuses internal addresses."""
    if subscriber is None:
        return []
    action = call.site.config.signalbox.subscriber_action
    if action is None:
        raise HttpProblem(422, "/subscriber: this server does not call subscribers")
    wanted: list[tuple[str, str, list[str]]] = [("subscriber-success", subscriber.successUri, ["SUCCESSFUL"])]
    if subscriber.failedUri is not None:
        wanted.append(("subscriber-failed", subscriber.failedUri, ["failed"]))
    return [
        {
            "name": name,
            "action": action,
            "for": "summary",
            "parameters": {"url": {"value": uri}},
            "when": when,
        }
        for name, uri, when in wanted
    ]
