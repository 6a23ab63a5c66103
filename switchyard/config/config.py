"""The whole configuration: one frozen object for all programs."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import model_validator

from switchyard.config.by_type import AnyAction
from switchyard.config.daemons import Caboose, Conductor, Logging, Partitions, Workers
from switchyard.config.database import Database
from switchyard.config.model import Model
from switchyard.config.names import HeaderName, Name, StoreUrl
from switchyard.config.schedules import Schedule
from switchyard.config.secrets import Secret
from switchyard.config.signalbox import Signalbox
from switchyard.config.steps import GRAPH
from switchyard.config.workflows import Workflow

SHARED = ("store", "correlation_header", "actions", "workflows", "secrets")


class Config(Model):
    """The configuration of all programs."""

    database: Database = Database()
    """Where the ledger is."""
    store: StoreUrl = "file:///var/lib/switchyard"
    """Where inputs, outputs and archives are stored: file:///folder or s3://bucket/prefix."""
    conductor: Conductor = Conductor()
    """The conductor."""
    caboose: Caboose = Caboose()
    """The caboose."""
    signalbox: Signalbox = Signalbox()
    """The HTTP API and dashboard."""
    workers: Workers = Workers()
    """The registry of workers."""
    partitions: Partitions = Partitions()
    """The ledger's partitions."""
    log: Logging = Logging()
    """Logging."""
    correlation_header: HeaderName = "x-cdp-request-id"
    """The header of every webhook that carries the correlation id."""
    actions: Mapping[Name, AnyAction] = {}
    """The actions that conductors serve, by action name."""
    workflows: Mapping[Name, Workflow] = {}
    """The workflows that can be submitted, by name."""
    schedules: Mapping[Name, Schedule] = {}
    """What is submitted when, by name; `switchyard schedules apply` applies changes."""
    secrets: Mapping[Name, Secret] = {}
    """References to secrets that templates may use as `secrets.name`."""

    @model_validator(mode="before")
    @classmethod
    def _serve_steps(cls, data: Any) -> Any:
        return with_graph_action(data)

    def fingerprint(self) -> str:
        """A hash of what all conductors of a database must share; it covers references, not secrets."""
        return fingerprint_of(self.model_dump(mode="json", include=set(SHARED)))


def with_graph_action(data: Any) -> Any:
    """The data with the action that starts the steps of workflows, where a workflow has steps."""
    if not isinstance(data, dict):
        return data
    workflows, actions = data.get("workflows"), data.get("actions", {})
    if not isinstance(workflows, dict) or not isinstance(actions, dict) or GRAPH in actions:
        return data
    stepped = any(isinstance(each, dict) and each.get("steps") for each in workflows.values())
    return {**data, "actions": {**actions, GRAPH: {"type": GRAPH}}} if stepped else data


def fingerprint_of(content: Mapping[str, Any]) -> str:
    """A hash of the content, independent of the order of keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
