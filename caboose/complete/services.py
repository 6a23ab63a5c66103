"""What all loops of one caboose share."""

from dataclasses import dataclass
from random import Random

from caboose.complete.archive import Archive
from caboose.complete.callbacks import Callbacks
from caboose.complete.record import Recorder
from caboose.metrics import CabooseMetrics
from switchyard.config.config import Config
from switchyard.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The configuration, and the parts that were made from it."""

    config: Config
    archive: Archive
    callbacks: Callbacks
    recorder: Recorder
    metrics: CabooseMetrics

    @classmethod
    def of(cls, config: Config, store: Store, chance: Random) -> "Services":
        """Made for one configuration and one store."""
        metrics = CabooseMetrics()
        callbacks = Callbacks(config, store)
        recorder = Recorder(config, callbacks, chance)
        return cls(config, Archive(store, config, metrics), callbacks, recorder, metrics)
