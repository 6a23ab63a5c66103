"""What caboose wires up for one source: an intake, a completer and the callbacks that are due."""

import random
from typing import Generic, TypeVar

from caboose.complete.completer import Completer
from caboose.complete.services import Services
from caboose.leader import Leader
from caboose.metrics import CabooseMetrics
from caboose.observe.intake import Intake
from caboose.queries import Queries
from caboose.scope import Scope
from caboose.sweeps.due_callbacks import DueCallbacks
from switchyard.config.config import Config
from switchyard.execution import WHOLE
from switchyard.sources import ServedSource, Source
from switchyard.store import Store

S = TypeVar("S", bound=Source)


class Core(Generic[S]):
    """Driven pass by pass; the source serves the action name `run`."""

    def __init__(
        self,
        config: Config,
        store: Store,
        source: S,
        queries: Queries,
        *,
        due: Queries | None = None,
        leader: str | None = None,
    ) -> None:
        self.config, self.store, self.source, self.queries = config, store, source, queries
        self.services = Services.of(config, store, random.Random(1), CabooseMetrics())
        self.leader = Leader(queries, leader)
        self.intake = Intake(source, self.leader, 1000)
        self.scope = Scope.of(config, {"run": source}, WHOLE)
        served = ServedSource(source, ("run",))
        self.completer = Completer(served, self.intake, self.leader, queries, self.services)
        self.due = DueCallbacks(due or queries, self.scope, self.services)
