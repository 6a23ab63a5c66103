"""The results of an execution in the object store: its output, and the files that the output names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from switchyard.client.records import Thread
from switchyard.errors import BadInput, ConfigError
from switchyard.places import Places
from switchyard.store import Store, open_store

LARGEST_OUTPUT = 64 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class File:
    """One file of the results; read from the store on access."""

    name: str
    key: str
    sha256: str | None
    store: Store

    @property
    def url(self) -> str:
        """The file's address: a file:// or s3:// URL."""
        return self.store.url_of(self.key)

    def read(self) -> bytes:
        """The whole content; raises BadInput if it is not what the execution wrote."""
        content = self.store.get(self.key)
        if self.sha256 is not None and sha256(content).hexdigest() != self.sha256:
            raise BadInput(f"{self.name}: the content differs from the checksum in output.json")
        return content

    def save(self, folder: str | Path) -> Path:
        """Write it to a folder under its own name; returns the path."""
        path = Path(folder) / Path(self.name).name
        path.write_bytes(self.read())
        return path


@dataclass(frozen=True)
class Results:
    """The results of one run."""

    thread: Thread
    store: Store

    @property
    def places(self) -> Places:
        """The keys of the run's files, or of those of the run whose result it reused."""
        thread = self.thread
        return Places.of_output(thread.action_uuid, thread.run, thread.reused)

    @cached_property
    def output(self) -> Mapping[str, Any]:
        """The content of output.json; raises StoreMissing if the run wrote none."""
        try:
            found = json.loads(self.store.get(self.places.output, LARGEST_OUTPUT))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"output.json of {self.thread.action_uuid} is not valid JSON: {error}") from None
        if not isinstance(found, dict):
            raise BadInput(f"output.json of {self.thread.action_uuid} is not a JSON object")
        return found

    @cached_property
    def files(self) -> list[File]:
        """The files that output.json names; those outside the run's own folder are left out."""
        listed = self.output.get("files")
        folder = self.places.folder + "/"
        return [
            File(str(entry["name"]), entry["key"], entry.get("sha256"), self.store)
            for entry in (listed if isinstance(listed, list) else [])
            if isinstance(entry, dict) and "name" in entry and str(entry.get("key", "")).startswith(folder)
        ]

    @property
    def log(self) -> str | None:
        """The log's tail, if the backend stored one."""
        if self.store.size(self.places.log) is None:
            return None
        return self.store.get(self.places.log).decode(errors="replace")


def store_of(url: str | None) -> Store:
    """The configured store; ConfigError where none is configured."""
    if url is None:
        raise ConfigError("results are read from the object store: pass config=, a file with `store:`")
    return open_store(url)
