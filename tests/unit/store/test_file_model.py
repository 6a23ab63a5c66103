"""The file store against the simplest model of a store: a dictionary."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from switchyard.errors import StoreError, StoreMissing
from switchyard.store.file import FileStore

keys = st.lists(st.sampled_from(["a", "b", "a-b", "a0", "é"]), min_size=1, max_size=3).map("/".join)
values = st.binary(max_size=8)


class Stores(RuleBasedStateMachine):
    """Whatever is done, both hold the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = FileStore(self.folder / "store")
        self.model: dict[str, bytes] = {}
        self.folders: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def possible(self, key: str) -> bool:
        """In a folder, an object and what is below it cannot both be; and folders stay."""
        parts = key.split("/")
        above = {"/".join(parts[:count]) for count in range(1, len(parts))}
        return key not in self.folders and not above & set(self.model)

    @rule(key=keys, value=values, once=st.booleans())
    def put(self, key: str, value: bytes, once: bool) -> None:
        parts = key.split("/")
        for count in range(1, len(parts)):
            above = "/".join(parts[:count])
            if above in self.model:
                break
            self.folders.add(above)
        if not self.possible(key):
            try:
                self.store.put(key, value, if_absent=once)
            except StoreError:
                return
            raise AssertionError(f"{key} cannot be written beside {sorted(self.model)}")
        new = key not in self.model
        assert self.store.put(key, value, if_absent=once) == (new or not once)
        if new or not once:
            self.model[key] = value

    @rule(key=keys)
    def get(self, key: str) -> None:
        assert self.store.size(key) == (len(self.model[key]) if key in self.model else None)
        try:
            assert self.store.get(key) == self.model[key]
        except StoreMissing:
            assert key not in self.model

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.store.delete(key)
        self.model.pop(key, None)

    @rule(prefix=st.one_of(st.just(""), keys, keys.map(lambda key: f"{key}/")))
    def list(self, prefix: str) -> None:
        expected = sorted((key for key in self.model if key.startswith(prefix)), key=str.encode)
        assert [*self.store.list(prefix)] == expected


TestStores = Stores.TestCase
TestStores.settings = settings(stateful_step_count=20)
