"""Stores chunks in the object store, under a prefix such as `executions/<uuid>/r<run>/checkpoint`."""

from dataclasses import dataclass

from switchyard.errors import StoreMissing
from switchyard.store import Store

LARGEST = 64 * 2**20


@dataclass(frozen=True)
class StoreChunks:
    store: Store
    prefix: str

    def load(self, name: str) -> bytes | None:
        try:
            return self.store.get(f"{self.prefix}/{name}", limit=LARGEST)
        except StoreMissing:
            return None

    def save(self, name: str, content: bytes) -> None:
        self.store.put(f"{self.prefix}/{name}", content)
