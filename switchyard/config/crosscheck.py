"""What must hold between the parts of a configuration."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from switchyard.config.config import Config
from switchyard.config.problems import Problem


def crosscheck(config: Config | None, data: Any, folder: Path) -> Iterator[Problem]:
    """Nothing yet."""
    del config, data, folder
    yield from ()
