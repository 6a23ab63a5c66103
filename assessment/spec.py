"""The specification of a job: the kind of assessment, its mode and edition."""

from dataclasses import dataclass
from typing import Literal

from assessment.editions import Edition

Assessment = Literal["nutrient", "gcn"]
Mode = Literal["default", "compatible"]

CHUNK = 100
"""Sites per chunk: some tenths of a second of work, so that little is lost when a job stops."""


@dataclass(frozen=True)
class JobSpec:
    assessment: Assessment
    edition: Edition
    mode: Mode = "default"
    chunk_size: int = CHUNK
