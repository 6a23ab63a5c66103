"""What all loops of one caboose share."""

from dataclasses import dataclass
from random import Random

from caboose.complete.archive import Archive
from caboose.complete.callbacks import Callbacks
from caboose.complete.record import Recorder
from caboose.metrics import CabooseMetrics
from switchyard.config.config import Config
from switchyard.process import evaluate
from switchyard.process.bounded.pool import Pool
from switchyard.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The configuration, and the services created from it."""

    config: Config
    archive: Archive
    callbacks: Callbacks
    recorder: Recorder
    metrics: CabooseMetrics
    pool: Pool

    def close(self) -> None:
        """End the processes that evaluate expressions."""
        self.pool.close()

    @classmethod
    def of(cls, config: Config, store: Store, chance: Random, metrics: CabooseMetrics) -> "Services":
        """Create the services for one configuration and one store."""
        pool = Pool(preload=(*evaluate.PRELOAD, "caboose.complete.paths"))
        callbacks = Callbacks(config, store, pool)
        recorder = Recorder(config, callbacks, chance)
        return cls(config, Archive(store, config, metrics, pool), callbacks, recorder, metrics, pool)
