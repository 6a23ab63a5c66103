"""Workflows of every kind of end."""

from typing import Any

DONE = {"name": "done", "action": "hook", "parameters": {"status": {"path": "$.workflow.status"}}}


def flow(spec: dict[str, Any], *callbacks: dict[str, Any]) -> dict[str, Any]:
    """A workflow written in place."""
    return {"action": "argo", "manifest": {"spec": spec}, "timeout": "10m", "callbacks": [DONE, *callbacks]}


def single(template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"entrypoint": "main", "templates": [{"name": "main", **template}], **spec}


SUPPLIED = {"parameters": [{"name": "answer", "valueFrom": {"supplied": {}}}]}
APPROVAL = {
    "entrypoint": "main",
    "templates": [
        {
            "name": "main",
            "steps": [[{"name": "approve", "template": "wait"}], [{"name": "after", "template": "pass"}]],
            "outputs": {
                "parameters": [
                    {
                        "name": "answer",
                        "valueFrom": {"parameter": "{{steps.approve.outputs.parameters.answer}}"},
                    }
                ]
            },
        },
        {"name": "wait", "suspend": {}, "outputs": SUPPLIED},
        {"name": "pass", "suspend": {"duration": "0"}},
    ],
}
NESTED = {
    "entrypoint": "main",
    "templates": [
        {"name": "main", "steps": [[{"name": "outer", "template": "graph"}]]},
        {"name": "graph", "dag": {"tasks": [{"name": "inner", "template": "fail"}]}},
        {"name": "fail", "container": {"image": "none", "command": ["sh", "-c", "echo bad input; exit 65"]}},
    ],
}
WAKE = {
    "name": "wake",
    "action": "resume",
    "when": ["SUCCESSFUL"],
    "parameters": {
        "workflow": {"path": "$.input.waiting"},
        "node": {"value": "displayName=approve"},
        "outputs": {"value": {"answer": "yes"}},
    },
}
FLOWS: dict[str, Any] = {
    "good": flow(single({"suspend": {"duration": "0"}})),
    "nested": flow(NESTED),
    "approval": flow(
        APPROVAL, {**DONE, "name": "reported", "parameters": {"answer": {"path": "$.output.answer"}}}
    ),
    "waker": flow(single({"suspend": {"duration": "0"}}), WAKE),
    "terminated": flow(single({"suspend": {}})),
    "late": flow(single({"suspend": {}}, activeDeadlineSeconds=1)),
    "deleted": flow(single({"suspend": {}})),
}
