"""A spawned caboose that stands by until the measurement starts."""

import asyncio
import sys
import time
from pathlib import Path
from types import TracebackType

import psycopg

from tests.deployment import configuration
from tests.parts.kubernetes import Cluster as Part
from tests.parts.process import Process

CABOOSE = [sys.executable, "-c", "from caboose.cli import main; main()", "run", "-c"]
LEADS = "select pg_try_advisory_lock(1937204082, hashtext(%s))"
LED = "select count(*) from pg_locks where locktype = 'advisory' and classid = 1937204082 and granted"


class Station:
    """Holds the leader's lock that caboose waits for."""

    def __init__(self, part: Part, namespace: str, url: str, folder: Path) -> None:
        file = folder / f"{namespace}.yaml"
        place = {"namespace": namespace, "kubeconfig": str(part.kubeconfig)}
        content = {
            "caboose": {"health": {"port": None}},
            "actions": {
                "argo": {"type": "argo", **place},
                "hook": {"type": "noop"},
            },
            "workflows": {
                "job": {"action": "argo", "template": "t", "callbacks": [{"name": "done", "action": "hook"}]}
            },
        }
        configuration.write(file, content)
        self._url, self._namespace = url, namespace
        self._leader = psycopg.connect(url, autocommit=True)
        self._caboose = Process(
            "caboose", [*CABOOSE, file], env={"DATABASE_URL": url, "PATH": "/usr/bin:/bin"}
        )

    @property
    def pid(self) -> int:
        return self._caboose.pid

    async def go(self) -> None:
        """Let caboose lead; returns when it does, which is up to its next look at the lock."""
        self._leader.close()
        with psycopg.connect(self._url, autocommit=True) as connection:
            while connection.execute(LED).fetchone() == (0,):
                time.sleep(0.01)  # noqa: ASYNC251 - nothing else runs meanwhile

    async def __aenter__(self) -> "Station":
        assert self._leader.execute(LEADS, [f"argo/{self._namespace} argo 0/1"]).fetchone() == (True,)
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
