"""A spawned caboose that stands by until it is told to go."""

import asyncio
import sys
import time
from pathlib import Path
from types import TracebackType

import psycopg

from switchyard.backends.argo.lease import Lease
from switchyard.backends.kubernetes.client import Cluster
from tests.deployment import configuration
from tests.parts.kubernetes import Cluster as Part
from tests.parts.process import Process

CABOOSE = [sys.executable, "-c", "from caboose.cli import main; main()", "run", "-c"]
LEASE = "switchyard-caboose"


class Station:
    """Holds the lease that caboose waits for."""

    def __init__(self, part: Part, cluster: Cluster, namespace: str, url: str, folder: Path) -> None:
        file = folder / f"{namespace}.yaml"
        place = {"namespace": namespace, "kubeconfig": str(part.kubeconfig)}
        content = {
            "caboose": {"health": {"port": None}},
            "actions": {
                "argo": {"type": "argo", **place, "lease": {"duration": "10m"}},
                "hook": {"type": "noop"},
            },
            "workflows": {
                "job": {"action": "argo", "template": "t", "callbacks": [{"name": "done", "action": "hook"}]}
            },
        }
        configuration.write(file, content)
        self._url, self._cluster, self._namespace = url, cluster, namespace
        self._lease = Lease(cluster, namespace, LEASE, "benchmark", duration=3600)
        self._caboose = Process(
            "caboose", [*CABOOSE, file], env={"DATABASE_URL": url, "PATH": "/usr/bin:/bin"}
        )

    @property
    def pid(self) -> int:
        return self._caboose.pid

    async def go(self) -> None:
        """Let caboose have the lease; returns when it has it, which is up to its next look at it."""
        await self._lease.release()
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self._namespace}/leases/{LEASE}"
        holder = ""
        while not holder:
            holder = (await self._cluster.get(path))["spec"].get("holderIdentity") or ""

    async def __aenter__(self) -> "Station":
        assert await self._lease.tick()
        self._caboose.start()
        deadline = time.monotonic() + 60
        while not self._registered():
            assert time.monotonic() < deadline, "caboose does not start"
            await asyncio.sleep(0.1)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._caboose.kill)

    def _registered(self) -> bool:
        with psycopg.connect(self._url) as connection:
            found = connection.execute(
                "select count(*) from switchyard.fleet where kind = 'caboose' and state = 'running'"
            ).fetchone()
        return found != (0,)
