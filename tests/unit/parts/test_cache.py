"""The cache builds a part once, or not at all."""

from pathlib import Path

import pytest

from tests.parts import cache
from tests.parts.cache import UnavailableError, cached


@pytest.fixture(autouse=True)
def _cache_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "build_missing", True)


def test_a_missing_part_is_not_built_by_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "build_missing", False)
    with pytest.raises(UnavailableError, match="make parts"):
        cached("part-1", lambda into: None)


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
