"""What every object store promises; each kind of store is held to it in its own file."""

import threading
from pathlib import Path

import pytest

from switchyard.errors import StoreError
from switchyard.store import Store


class Promises:
    """Inherited by a test class of a file that has a `store` fixture."""

    def test_an_object_comes_back(self, store: Store) -> None:
        assert store.put("executions/a/r1/input.json", b"{}")
        assert store.get("executions/a/r1/input.json") == b"{}"
        assert store.size("executions/a/r1/input.json") == 2

    def test_a_second_write_replaces(self, store: Store) -> None:
        store.put("a", b"one")
        assert store.put("a", b"")
        assert store.get("a") == b""

    def test_write_once_keeps_the_first(self, store: Store) -> None:
        assert store.put("a", b"one", if_absent=True)
        assert not store.put("a", b"two", if_absent=True)
        assert store.get("a") == b"one"

    def test_of_many_writers_at_once_exactly_one_wins(self, store: Store) -> None:
        barrier = threading.Barrier(16)
        wins: list[int] = []

        def write(number: int) -> None:
            barrier.wait()
            if store.put("race/once", b"%d" % number * 10_000, if_absent=True):
                wins.append(number)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(wins) == 1
        assert store.get("race/once") == b"%d" % wins[0] * 10_000

    def test_a_missing_source_file_is_named(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="nothing-here: No such file"):
            store.put_file("a", tmp_path / "nothing-here")
