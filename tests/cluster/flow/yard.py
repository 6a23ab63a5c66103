"""A deployment of conductor and caboose on a real API server, where a real Argo or the test itself acts on workflows."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.backends.argo.resource import workflows
from tests.deployment.deployment import Deployment
from tests.parts.database import Database
from tests.parts.kubernetes import Cluster
from tests.parts.workflow import workflow as as_argo_leaves_it

ENDED = ("SUCCESSFUL", "FAILED", "CANCELED", "TIMED_OUT", "INVALID", "RETRIES_EXHAUSTED")
PATIENT = {"attempts": 100, "base": "200ms", "factor": 1.5, "max": "2s"}


class Yard(Deployment):
    """One conductor and one caboose, not started yet."""

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
        place = {"namespace": namespace, "kubeconfig": str(kubeconfig or cluster.kubeconfig)}
        config = (
            _configuration(place, argo) | {"workflows": dict(flows)} | ({"store": store} if store else {})
        )
        super().__init__(database, folder, config, environ)
        self.cluster, self.namespace = cluster, namespace
        self.conductor = self.program("conductor")
        self.caboose = self.program("caboose")

    def start(self) -> None:
        self.conductor.start()
        self.caboose.start()

    def submit(self, workflow: str, **parameters: Any) -> UUID:
        return self.ledger.submit("argo", workflow, parameters)

    def queued(self, workflow: str) -> UUID:
        """One that conductor has handed over."""
        uuid = self.submit(workflow)
        self.ledger.event(uuid, "QUEUED")
        return uuid

    def ended(self, workflow: str) -> UUID:
        """One that has succeeded since, for where nobody else acts on workflows."""
        uuid = self.queued(workflow)
        self.cluster.api.create(workflows(self.namespace), as_argo_leaves_it(uuid, "Succeeded"))
        return uuid

    def undelivered(self) -> list[tuple[Any, ...]]:
        """Callbacks that did not succeed, for a failure's message."""
        return self.database.execute(
            "select a.action_name, t.status::text, t.attempt, t.error, a.parameters::text from switchyard.action a "
            "join switchyard.thread t using (action_uuid) where a.parent_uuid is not null "
            "and t.status <> 'SUCCESSFUL' limit 5"
        )

    def metric(self, line: str) -> float | None:
        """A value of conductor's metrics; None while it does not answer."""
        text = self.conductor.get("/metrics")[1]
        found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None

    def in_cluster(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.cluster.api.get(workflows(self.namespace))["items"]
        return items

    def archived(self, uuid: UUID) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.store.get(f"executions/{uuid}/r1/workflow.json"))
        return record


def _configuration(place: Mapping[str, Any], argo: Mapping[str, Any]) -> dict[str, Any]:
    patient = {**place, "retry": PATIENT}
    quick = {"concurrency": 20, "reconcile": "1s", "vanished_after": "3s"}
    return {
        "conductor": {"poll": "1s"},
        "caboose": {"poll": "500ms", "health": {"port": None}},
        "workers": {"beat": "1s", "lost_after": "5s", "min_lost": 100},
        "actions": {
            "argo": {"type": "argo", **patient, **quick, **argo},
            "resume": {"type": "argo_resume", **patient},
            "hook": {"type": "noop"},
        },
    }
