"""Copies the files of the previous run for a run that resumes.

Checkpoints for every backend; all files where parts of the execution itself are not repeated, because what
they wrote is needed by the parts that follow. Copied before the run is dispatched, each object once, so an
attempt that was cut off is continued by the next.
"""

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from switchyard.errors import StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.store import Store

MOST_FILES = 10_000
MOST_BYTES = 1 << 30
AT_ONCE = 8
CHECKPOINT = "checkpoint/"
# Of the run itself, or of the worker that ran it: how often it was begun, that it was canceled or has ended.
_NOT_COPIED = frozenset({"input.json", "input.geojson", "workflow.json", "log.txt", "cancel"})


def carry_over(store: Store, places: Places, *, everything: bool, run: int | None = None) -> int:
    """Copy the files of the run before, or of `run`, or the checkpoints alone; how many.

    StoreTooLarge where they are too large.
    """
    before = f"{Places(places.uuid, places.run - 1 if run is None else run).folder}/"
    found = list(islice(_wanted(store, before, everything=everything), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise StoreTooLarge(f"the run before has more than {MOST_FILES:,} files")
    missing = [name for name in found if store.size(f"{places.folder}/{name}") is None]
    size = sum(store.size(before + name) or 0 for name in missing)
    if size > MOST_BYTES:
        raise StoreTooLarge(f"the run before has files of {size:,} bytes, more than {MOST_BYTES:,}")
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="carry over") as threads:
        for _ in threads.map(lambda name: _copy(store, before + name, f"{places.folder}/{name}"), missing):
            continue
    return len(found)


def _wanted(store: Store, before: str, *, everything: bool) -> Iterator[str]:
    for key in store.list(before if everything else before + CHECKPOINT):
        name = key.removeprefix(before)
        if name not in _NOT_COPIED:
            yield name


def _copy(store: Store, source: str, target: str) -> None:
    with tempfile.TemporaryDirectory(prefix="switchyard-") as folder:
        file = Path(folder) / "object"
        try:
            with store.open(source) as stream, file.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
        except StoreMissing:
            return  # deleted since it was listed
        store.put_file(target, file)
