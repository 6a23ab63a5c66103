"""Conductor and caboose as spawned commands, on a real ledger, a real API server and a real Argo."""

import json
import re
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from switchyard.backends.argo.resource import workflows
from switchyard.store import Store, open_store
from tests.parts.database import Database
from tests.parts.kubernetes import Cluster
from tests.parts.ports import free_port
from tests.parts.process import Process
from tests.parts.workflow import workflow as as_argo_leaves_it

CONDUCTOR = [sys.executable, "-c", "from conductor.cli import main; main()"]
CABOOSE = [sys.executable, "-c", "from caboose.cli import main; main()"]
ENDED = ("SUCCESSFUL", "FAILED", "CANCELED", "TIMED_OUT", "INVALID", "RETRIES_EXHAUSTED")


class Yard:
    """One deployment: its configuration, its programs, and what the ledger says."""

    def __init__(
        self,
        database: Database,
        cluster: Cluster,
        namespace: str,
        folder: Path,
        flows: Mapping[str, Any],
        *,
        kubeconfig: Path | None = None,
        store: str | None = None,
        environ: Mapping[str, str] | None = None,
        **argo: Any,
    ) -> None:
        self.database, self.cluster, self.namespace = database, cluster, namespace
        self.port = free_port()
        place = {"namespace": namespace, "kubeconfig": str(kubeconfig or cluster.kubeconfig)}
        patient = {"attempts": 100, "base": "200ms", "factor": 1.5, "max": "2s"}
        content = {
            "database": {"url": "env:DATABASE_URL"},
            "store": store or (folder / "store").as_uri(),
            "conductor": {"poll": "1s", "health": {"port": self.port}},
            "caboose": {"poll": "500ms", "health": {"port": None}},
            "workers": {"beat": "1s", "lost_after": "5s", "min_lost": 100},
            "actions": {
                "argo": {
                    "type": "argo",
                    **place,
                    "concurrency": 20,
                    "retry": patient,
                    "reconcile": "1s",
                    "vanished_after": "3s",
                    "lease": {"duration": "4s"},
                    **argo,
                },
                "resume": {"type": "argo_resume", **place, "retry": patient},
                "hook": {"type": "noop"},
            },
            "workflows": dict(flows),
        }
        self.file = folder / "switchyard.yaml"
        self.file.write_text(yaml.safe_dump(content))
        self.store: Store = open_store(content["store"])  # type: ignore[arg-type]  # a text, as written above
        env = {"DATABASE_URL": database.url, "PATH": "/usr/bin:/bin", **(environ or {})}
        self.conductor = Process("conductor", [*CONDUCTOR, "run", "-c", self.file], env=env)
        self.caboose = Process("caboose", [*CABOOSE, "run", "-c", self.file], env=env)

    def start(self) -> None:
        self.conductor.start()
        self.caboose.start()

    def close(self) -> None:
        self.conductor.kill()
        self.caboose.kill()

    def queued(self, workflow: str) -> UUID:
        """One that conductor has handed over."""
        uuid = self.submit(workflow)
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'QUEUED', 1, 1)",
            uuid,
        )
        return uuid

    def ended(self, workflow: str) -> UUID:
        """One that has succeeded since, for where nobody else acts on workflows."""
        uuid = self.queued(workflow)
        self.cluster.api.create(workflows(self.namespace), as_argo_leaves_it(uuid, "Succeeded"))
        return uuid

    def submit(self, workflow: str, **parameters: Any) -> UUID:
        ((uuid,),) = self.database.execute(
            "select switchyard.submit('argo', %s, workflow => %s, correlation_id => 'c-1')",
            json.dumps(parameters),
            workflow,
        )
        return UUID(str(uuid))

    def threads(self) -> dict[UUID, tuple[str, str | None, bool]]:
        """Of every workflow its status, its error, and whether somebody has to look."""
        rows = self.database.execute(
            "select t.action_uuid, t.status::text, t.error, t.needs_review from switchyard.thread t "
            "join switchyard.action a using (action_uuid) where a.action_type = 'workflow'"
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def status(self, uuid: UUID) -> str:
        return self.threads()[uuid][0]

    def open(self) -> int:
        """How many actions of any kind have not ended."""
        ((count,),) = self.database.execute(
            "select count(*) from switchyard.thread where ended_at is null or callbacks_due"
        )
        return int(count)

    def callbacks(self) -> dict[tuple[UUID, str], tuple[str, dict[str, Any]]]:
        """Status and parameters of every callback, by parent and name."""
        rows = self.database.execute(
            "select a.parent_uuid, a.callback, t.status::text, a.parameters from switchyard.action a "
            "join switchyard.thread t using (action_uuid) where a.parent_uuid is not null"
        )
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}

    def undelivered(self) -> list[tuple[Any, ...]]:
        """Callbacks that did not succeed, for a failure's message."""
        return self.database.execute(
            "select a.action_name, t.status::text, t.attempt, t.error, a.parameters::text from switchyard.action a "
            "join switchyard.thread t using (action_uuid) where a.parent_uuid is not null "
            "and t.status <> 'SUCCESSFUL' limit 5"
        )

    def metric(self, line: str) -> float | None:
        """A value of conductor's metrics; None while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            return None
        found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None

    def in_cluster(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.cluster.api.get(workflows(self.namespace))["items"]
        return items

    def archived(self, uuid: UUID) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.store.get(f"executions/{uuid}/r1/workflow.json"))
        return record
