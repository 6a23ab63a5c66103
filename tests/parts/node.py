"""A node for Argo's pods: runs the main container's command as a process of this machine.

It replaces the kubelet, the container runtime and Argo's executor, none of which can run without
containers: it watches pods, runs the command that the controller wrapped for its executor, obeys the
pod's deadline, reports the container's states and the executor's task result, and ends the process when the
pod is deleted or its workflow is deleted or shut down (which the controller would do through exec, and the
missing garbage collector through owner references). The image, volumes and script templates are ignored;
the process has the tests' environment, then the pod's, then what `environ` adds.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import httpx

from tests.parts import guardian
from tests.parts.kubeapi import KubeApi, Object
from tests.parts.kubernetes import Cluster
from tests.parts.podstatus import WORKFLOW, finished, main_container, running, task_result

PODS = "/api/v1/pods"
ALL_WORKFLOWS = "/apis/argoproj.io/v1alpha1/workflows"
WINDOW = 1  # seconds that one watch lasts, and so the longest that stop() waits


class Node:
    """Runs the pods of every namespace from start() to stop(); `.log(pod)` is what one printed."""

    def __init__(self, cluster: Cluster, environ: Mapping[str, str] | None = None) -> None:
        self.cluster = cluster
        self.environ = dict(environ or {})
        self.folder = guardian.scratch("node")
        self._api = KubeApi(cluster.url, cluster.authority, cluster.admin_token)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._seen: set[str] = set()
        self._stopped = threading.Event()
        self._watchers = [
            threading.Thread(target=self._follow, args=(PODS, self._on_pod)),
            threading.Thread(target=self._follow, args=(ALL_WORKFLOWS, self._on_workflow)),
        ]
        self._runners: list[threading.Thread] = []

    def start(self) -> None:
        for thread in self._watchers:
            thread.start()

    def stop(self) -> None:
        """End every process and stop looking."""
        self._stopped.set()
        for name in list(self._processes):
            self.kill(name)
        for thread in [*self._watchers, *self._runners]:
            thread.join()
        self._api.close()
        guardian.discard(self.folder)

    def log(self, pod: str) -> str:
        return (self.folder / f"{pod}.log").read_text()

    def kill(self, pod: str, sign: signal.Signals = signal.SIGKILL) -> None:
        """A signal to the pod's process and all that it started."""
        process = self._processes.get(pod)
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # another thread may have waited for it just now
                os.killpg(process.pid, sign)

    def _follow(self, path: str, on_event: Callable[[str, Object], None]) -> None:
        while not self._stopped.is_set():
            try:
                self._list_and_watch(path, on_event)
            except httpx.HTTPError:
                self._stopped.wait(0.5)  # the API server is away, or its history is: list again

    def _list_and_watch(self, path: str, on_event: Callable[[str, Object], None]) -> None:
        listed = self._api.get(path)
        for item in listed["items"]:
            on_event("ADDED", item)
        version = listed["metadata"]["resourceVersion"]
        while not self._stopped.is_set():
            for event in self._api.watch(path, version, WINDOW):
                if event["type"] == "ERROR":
                    return
                version = event["object"]["metadata"]["resourceVersion"]
                on_event(event["type"], event["object"])

    def _on_pod(self, change: str, pod: Object) -> None:
        name, identity = pod["metadata"]["name"], pod["metadata"]["uid"]
        waiting = pod["status"]["phase"] == "Pending" and WORKFLOW in pod["metadata"].get("labels", {})
        if change == "DELETED":
            self.kill(name)
        elif waiting and identity not in self._seen:
            self._seen.add(identity)
            runner = threading.Thread(target=self._run, args=(pod,))
            self._runners.append(runner)
            runner.start()

    def _on_workflow(self, change: str, workflow: Object) -> None:
        if change != "DELETED" and not workflow.get("spec", {}).get("shutdown"):
            return
        selector = f"{WORKFLOW}={workflow['metadata']['name']}"
        namespace = workflow["metadata"]["namespace"]
        for pod in self._api.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)["items"]:
            self.kill(pod["metadata"]["name"], signal.SIGTERM)
            if change == "DELETED":
                self._api.delete(_path(pod))

    def _run(self, pod: Object) -> None:
        try:
            self._tell(partial(self._api.patch, f"{_path(pod)}/status", running(pod)))
            code, reason = self._wait(pod, self._spawn(pod))
            said = self.log(pod["metadata"]["name"])
            self._tell(partial(self._api.create, *task_result(pod, code)))
            self._tell(partial(self._api.patch, f"{_path(pod)}/status", finished(pod, code, reason, said)))
        except httpx.HTTPError:
            self.kill(pod["metadata"]["name"])  # the pod is gone: nobody to tell

    def _tell(self, call: Callable[[], Object]) -> None:
        """Say it to the API server, again while that is away, as a kubelet does."""
        while not self._stopped.is_set():
            try:
                call()
            except httpx.TransportError:
                self._stopped.wait(0.3)
            except httpx.HTTPStatusError as error:
                if error.response.status_code == 409:
                    return
                if error.response.status_code not in (429, 500, 503):
                    raise
                self._stopped.wait(0.3)
            else:
                return

    def _spawn(self, pod: Object) -> "subprocess.Popen[bytes]":
        command, environ = main_container(pod)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        name = pod["metadata"]["name"]
        with (self.folder / f"{name}.log").open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PATH": path, **environ, **self.environ},
                start_new_session=True,
            )
        guardian.watch("pid", process.pid)
        self._processes[name] = process
        return process

    def _wait(self, pod: Object, process: "subprocess.Popen[bytes]") -> tuple[int, str]:
        """The exit code as a container runtime gives it, and why the pod ended if not by itself."""
        reason = ""
        try:
            process.wait(pod["spec"].get("activeDeadlineSeconds"))
        except subprocess.TimeoutExpired:
            self.kill(pod["metadata"]["name"])
            process.wait()
            reason = "DeadlineExceeded"
        guardian.release("pid", process.pid)
        code = process.returncode
        return (128 - code if code < 0 else code), reason


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
