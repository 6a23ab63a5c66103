"""The sources that a configuration asks for: one for each place, however many action names share it.

The packages for AWS and Kubernetes take long to import, and most cabooses need one of them or none: a source
is imported when it is asked for.
"""

import os
import socket
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from switchyard.backends.argo.model import ArgoAction
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.source import LocalSource
from switchyard.backends.sqs.model import SqsAction
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.config.action import Action
from switchyard.config.config import Config
from switchyard.errors import ConfigError
from switchyard.execution import Shard
from switchyard.sources import Source
from switchyard.store import Store

A = TypeVar("A", bound=Action)

KINDS = ("argo", "cirrus", "local", "sqs")


@dataclass(frozen=True, slots=True)
class Served:
    """A source, the action names whose executions it sees, and how patient reconcile is with it."""

    source: Source
    names: tuple[str, ...]
    every: float = 15.0
    grace: float = 15.0
    silent: float = 300.0


def build(config: Config, kinds: Iterable[str], shard: Shard, store: Store) -> list[Served]:
    """The sources of these kinds, or of all kinds that are configured where none is named."""
    wanted = tuple(kinds)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown:
        raise ConfigError(f"--source {unknown[0]}: there are {', '.join(KINDS)}")
    chosen = wanted or KINDS
    made = [
        *(_local(config, shard) if "local" in chosen else ()),
        *(_sqs(config, store) if "sqs" in chosen else ()),
        *(_cirrus(config, shard) if "cirrus" in chosen else ()),
        *(_argo(config, shard, store) if "argo" in chosen else ()),
    ]
    if wanted and not made:
        raise ConfigError(f"the configuration has no action of type {' or '.join(wanted)}")
    return made


def _local(config: Config, shard: Shard) -> list[Served]:
    groups = _grouped(config, LocalAction, lambda action: action.spool)
    return [Served(LocalSource(action, shard), names) for action, names in groups]


def _sqs(config: Config, store: Store) -> list[Served]:
    groups = _grouped(config, SqsAction, lambda each: (each.endpoint, each.region, each.status_queue))
    if not groups:
        return []
    from switchyard.backends.sqs.source import SqsSource  # noqa: PLC0415

    return [Served(SqsSource(action, store), names) for action, names in groups]


def _cirrus(config: Config, shard: Shard) -> list[Served]:
    groups = _grouped(config, CirrusAction, lambda each: (each.endpoint, each.region, each.queue))
    if not groups:
        return []
    from switchyard.backends.stepfunctions.source import CirrusSource  # noqa: PLC0415

    return [
        Served(CirrusSource(action, _machines(config, names), shard), names, silent=action.describe_after)
        for action, names in groups
    ]


def _argo(config: Config, shard: Shard, store: Store) -> list[Served]:
    groups = _grouped(config, ArgoAction, lambda each: (each.kubeconfig, each.context, each.namespace))
    if not groups:
        return []
    from switchyard.backends.argo.lease import Lease  # noqa: PLC0415
    from switchyard.backends.argo.source import ArgoSource, Place  # noqa: PLC0415
    from switchyard.backends.kubernetes.client import Cluster  # noqa: PLC0415
    from switchyard.backends.kubernetes.credentials import Credentials  # noqa: PLC0415

    served = []
    for action, names in groups:
        cluster = Cluster(Credentials(action.kubeconfig, action.context))
        lease_name = action.lease.name if shard.count == 1 else f"{action.lease.name}-{shard.index}"
        identity = f"{socket.gethostname()}-{os.getpid()}"
        lease = Lease(cluster, action.namespace, lease_name, identity, duration=action.lease.duration)
        source = ArgoSource(cluster, Place(action.namespace, shard), store, lease)
        served.append(Served(source, names, action.reconcile, action.vanished_after))
    return served


def _machines(config: Config, names: tuple[str, ...]) -> list[str]:
    """Every state machine that these action names may start."""
    used = {workflow.template for workflow in config.workflows.values() if workflow.action in names}
    defaults = {config.actions[name].default_template for name in names}
    return sorted(machine for machine in used | defaults if isinstance(machine, str))


def _grouped(config: Config, kind: type[A], key: Callable[[A], Hashable]) -> list[tuple[A, tuple[str, ...]]]:
    """The actions of a kind by the place that they share, each with all its names."""
    groups: dict[Hashable, tuple[A, list[str]]] = {}
    for name, action in config.actions.items():
        if isinstance(action, kind):
            groups.setdefault(key(action), (action, []))[1].append(name)
    return [(action, tuple(names)) for action, names in groups.values()]
