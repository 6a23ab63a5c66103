"""What a kubelet and Argo's executor write about a pod."""

import json
from datetime import UTC, datetime
from pathlib import Path

from tests.parts.kubeapi import Object

WORKFLOW = "workflows.argoproj.io/workflow"
NODE_ID = "workflows.argoproj.io/node-id"
COMPLETED = "workflows.argoproj.io/report-outputs-completed"
RESULTS = "/apis/argoproj.io/v1alpha1/namespaces/{}/workflowtaskresults"


def main_container(pod: Object) -> tuple[list[str], dict[str, str]]:
    """The command that the controller wrapped for its executor, and the plain values of its environment."""
    main = _main(pod)
    words = [*main["command"], *main.get("args", [])]
    environ = {each["name"]: each["value"] for each in main.get("env", []) if "value" in each}
    return words[words.index("--") + 1 :], environ


def running(pod: Object) -> Object:
    """A status patch: all containers run."""
    state = {"running": {"startedAt": _now()}}
    statuses = [_container(each, state) for each in pod["spec"]["containers"]]
    return {"status": {"phase": "Running", "startTime": _now(), "containerStatuses": statuses}}


def finished(pod: Object, code: int, reason: str, said: str) -> Object:
    """A status patch: the main container ended with `code`, the others in order."""
    ends = {each["name"]: _terminated(0) for each in pod["spec"]["containers"]}
    ends["main"] = _terminated(code, _last_words(pod, code, said))
    statuses = [_container(each, ends[each["name"]]) for each in pod["spec"]["containers"]]
    status: Object = {"phase": "Failed" if code or reason else "Succeeded", "containerStatuses": statuses}
    if reason:
        status |= {
            "reason": reason,
            "message": "Pod was active on the node longer than the specified deadline",
        }
    return {"status": status}


def task_result(pod: Object, code: int) -> tuple[str, Object]:
    """Path and body of the executor's report, with the output parameters that come from files."""
    metadata = pod["metadata"]
    body: Object = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTaskResult",
        "metadata": {
            "name": metadata["annotations"][NODE_ID],
            "labels": {WORKFLOW: metadata["labels"][WORKFLOW], COMPLETED: "true"},
        },
    }
    parameters = _outputs(pod) if code == 0 else []
    if parameters:
        body["outputs"] = {"parameters": parameters}
    return RESULTS.format(metadata["namespace"]), body


def _outputs(pod: Object) -> list[Object]:
    [initial] = pod["spec"]["initContainers"]
    template = next(each["value"] for each in initial["env"] if each["name"] == "ARGO_TEMPLATE")
    wanted = json.loads(template).get("outputs", {}).get("parameters", [])
    return [
        {"name": each["name"], "value": Path(each["valueFrom"]["path"]).read_text().rstrip("\n")}
        for each in wanted
        if "path" in each.get("valueFrom", {})
    ]


def _main(pod: Object) -> Object:
    main: Object = next(each for each in pod["spec"]["containers"] if each["name"] == "main")
    return main


def _last_words(pod: Object, code: int, said: str) -> str:
    wanted = _main(pod).get("terminationMessagePolicy") == "FallbackToLogsOnError"
    return said[-2048:] if code and wanted else ""


def _terminated(code: int, message: str = "") -> Object:
    reason = "Error" if code else "Completed"
    end = {"exitCode": code, "reason": reason, "message": message, "startedAt": _now(), "finishedAt": _now()}
    return {"terminated": end}


def _container(container: Object, state: Object) -> Object:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": "running" in state,
        "restartCount": 0,
        "state": state,
    }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
