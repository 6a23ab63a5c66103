"""The cache makes a part once, or not at all."""

from pathlib import Path

import pytest

from tests.parts.cache import cached


@pytest.fixture(autouse=True)
def _cache_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_part_is_made_once() -> None:
    made = []

    def make(into: Path) -> None:
        (into / "binary").touch()
        made.append(into)

    assert (cached("part-1", make) / "binary").exists()
    assert cached("part-1", make) == cached("part-1", make)
    assert len(made) == 1


def test_a_failed_build_leaves_nothing_that_looks_finished() -> None:
    def broken(into: Path) -> None:
        (into / "half").touch()
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        cached("part-1", broken)
    assert not any(cached("part-1", lambda into: None).iterdir())
