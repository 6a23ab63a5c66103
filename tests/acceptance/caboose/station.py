"""A spawned caboose with a configuration, a database, a spool and a store; work is handed over as conductor does."""

import asyncio
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from switchyard.backends.local.handler import LocalHandler
from switchyard.backends.local.model import LocalAction
from switchyard.config.load import load
from switchyard.handlers import HandedOver, HandlerContext, Work
from switchyard.store import open_store
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.parts.process import Process

CABOOSE = [sys.executable, "-c", "from caboose.cli import main; main()"]
CONDUCTOR = [sys.executable, "-c", "from conductor.cli import main; main()"]


class Station:
    """Where a caboose is started, killed and stopped."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        workflows: Mapping[str, Any],
        environ: Mapping[str, str] | None = None,
        **config: Any,
    ) -> None:
        self.database = database
        self.spool = folder / "spool"
        self.file = folder / "switchyard.yaml"
        self.port = free_port()
        content = {
            "database": {"url": "env:DATABASE_URL"},
            "store": (folder / "store").as_uri(),
            "caboose": {"poll": "200ms", "health": {"port": self.port}},
            "actions": {"run": {"type": "local", "spool": str(self.spool)}, "hook": {"type": "noop"}},
            "workflows": dict(workflows),
            **config,
        }
        self.file.write_text(yaml.safe_dump(content))
        self.environ = {"DATABASE_URL": database.url, "PATH": "/usr/bin:/bin", **(environ or {})}
        self.config = load(self.file, self.environ)
        self.store = open_store(self.config.store)
        self.caboose = self.another()

    def another(self, *options: str) -> Process:
        """One more caboose; not started yet."""
        argv = [*CABOOSE, "run", "-c", str(self.file), *options]
        return Process("caboose", argv, env=self.environ)

    def conductor(self) -> Process:
        """A conductor with the same configuration; not started yet."""
        return Process("conductor", [*CONDUCTOR, "run", "-c", str(self.file)], env=self.environ)

    def submit(self, workflow: str, **parameters: Any) -> UUID:
        (row,) = self.database.execute(
            "select switchyard.submit('run', %s, workflow => %s)", json.dumps(parameters), workflow
        )
        return UUID(str(row[0]))

    def hand_over(self, *uuids: UUID, run: int = 1) -> None:
        """Dispatch them with the real handler, and write what conductor would."""
        outcomes = asyncio.run(self._dispatch(uuids, run))
        for uuid, outcome in zip(uuids, outcomes, strict=True):
            assert isinstance(outcome, HandedOver), outcome
            self.database.execute(
                "insert into switchyard.event (action_uuid, status, run, attempt, source, detail) "
                "values (%s, 'QUEUED', %s, 1, 'conductor', %s)",
                *(uuid, run, json.dumps(dict(outcome.detail))),
            )

    async def _dispatch(self, uuids: tuple[UUID, ...], run: int) -> list[Any]:
        action = self.config.actions["run"]
        assert isinstance(action, LocalAction)
        handler = LocalHandler("run", action, HandlerContext(self.config, self.store, {}))
        await handler.start()
        return [await handler.dispatch(self._work(uuid, run)) for uuid in uuids]

    def _work(self, uuid: UUID, run: int) -> Work:
        ((workflow, parameters),) = self.database.execute(
            "select workflow, parameters from switchyard.action where action_uuid = %s", uuid
        )
        started = datetime.now(UTC)
        return Work(uuid, run, 1, False, "run", workflow, None, None, parameters, "c-1", started)

    def statuses(self, *uuids: UUID) -> list[str]:
        rows = self.database.execute(
            "select status::text from switchyard.thread where action_uuid = any(%s) order by action_uuid",
            list(uuids),
        )
        return [row[0] for row in rows]

    def executions(self) -> list[str]:
        """What is left in the spool."""
        return [path.name for path in self.spool.iterdir() if path.is_dir()]

    def get(self, path: str, port: int | None = None) -> tuple[int, bytes]:
        """An answer of caboose's health server, or of another; (0, b"") where there is none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def close(self) -> None:
        if self.caboose.running():
            self.caboose.kill()


def command(*words: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    argv = [*CABOOSE, *words]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=60, check=False)


def stop(process: Process) -> int:
    """SIGTERM, and the exit code."""
    child = process._child
    assert child is not None
    child.send_signal(signal.SIGTERM)
    return child.wait(30)
