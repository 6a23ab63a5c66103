"""The one writer of switchyard.yaml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write(file: Path, content: Mapping[str, Any]) -> Path:
    """Replace the file in one step; the database, the store and free ports are there unless `content` has its own."""
    defaults = {"database": {"url": "env:DATABASE_URL"}, "store": (file.parent / "store").as_uri()}
    programs = {
        name: {"health": {"port": 0}, **content.get(name, {})}
        for name in ("conductor", "caboose", "signalbox")
    }
    partial = file.with_suffix(".partial")
    partial.write_text(yaml.safe_dump({**defaults, **content, **programs}))
    return partial.replace(file)
