"""Local copies of inputs: from a path, from the object store, or from the request."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assessment.intake.reader import LIMIT
from assessment.request import Given
from switchyard.errors import BadInput, StoreMissing
from switchyard.store import Store, locate


@contextmanager
def fetched(given: Given, store: Store | None, limit: int = LIMIT) -> Iterator[Path]:
    """A file with the input's content, deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="assessment-input-") as folder:
        path = Path(folder) / "input"
        if given.geojson is not None:
            path.write_bytes(given.geojson)
        else:
            _download(*_place(given, store), path, limit)
        yield path


def _place(given: Given, store: Store | None) -> tuple[Store, str]:
    if given.url is not None:
        return locate(given.url)
    if store is None or given.key is None:
        raise BadInput(f"the input is the key {given.key!r}, but no store is configured")
    return store, given.key


def _download(store: Store, key: str, path: Path, limit: int) -> None:
    size = store.size(key)
    if size is None:
        raise BadInput(f"the input {key!r} is not in the store")
    if size > limit:
        raise BadInput(f"the input has {size / 2**20:,.0f} MiB; at most {limit // 2**20} MiB are accepted")
    try:
        with store.open(key) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
    except StoreMissing as error:
        raise BadInput(f"the input {key!r} is not in the store") from error
