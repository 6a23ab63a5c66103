"""What all loops of one caboose share."""

from dataclasses import dataclass

from caboose.archive import Archive
from caboose.metrics import CabooseMetrics
from caboose.record import Recorder
from switchyard.config.config import Config


@dataclass(frozen=True, slots=True)
class Means:
    """The configuration, and the tools that were made from it."""

    config: Config
    archive: Archive
    recorder: Recorder
    metrics: CabooseMetrics
