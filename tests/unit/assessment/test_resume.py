"""A job that was stopped does only what is left."""

from dataclasses import dataclass, field, replace

import pytest

from assessment import editions
from assessment.bundle.bundle import Bundle
from assessment.checkpoints import StoreChunks
from assessment.compute import compute
from assessment.spec import JobSpec
from switchyard.store import open_store
from tests.unit.assessment.world import World, box, sites

JOB = JobSpec("nutrient", editions.load("C"), chunk_size=1)
HUNDRED = [box(9 * k, 0, 9 * k + 8, 100) for k in range(100)]


@dataclass
class Kept:
    """Chunks in memory, with a record of what was asked of them."""

    content: dict[str, bytes] = field(default_factory=dict)
    saved: list[str] = field(default_factory=list)

    def load(self, name: str) -> bytes | None:
        return self.content.get(name)

    def save(self, name: str, content: bytes) -> None:
        self.content[name] = content
        self.saved.append(name)


class KilledError(Exception):
    """What a signal or a deadline does to a job."""


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return World().bundle()


def test_95_of_100_chunks_done_then_killed_then_5_computed(bundle: Bundle) -> None:
    batch, kept = sites(*HUNDRED), Kept()

    def die_after_95(_done: float, _step: str) -> None:
        if len(kept.saved) == 95:
            raise KilledError

    with pytest.raises(KilledError):
        compute(JOB, batch, bundle, progress=die_after_95, chunks=kept)
    assert len(kept.saved) == 95
    kept.saved.clear()
    resumed = compute(JOB, batch, bundle, chunks=kept)
    assert len(kept.saved) == 5
    assert resumed.main.rows == compute(JOB, batch, bundle).main.rows


def test_a_change_of_what_determines_the_result_computes_it_again(bundle: Bundle) -> None:
    batch, kept = sites(*HUNDRED[:3]), Kept()
    compute(JOB, batch, bundle, chunks=kept)
    for changed in (replace(JOB, mode="compatible"), replace(JOB, edition=editions.load("A"))):
        kept.saved.clear()
        compute(changed, batch, bundle, chunks=kept)
        assert len(kept.saved) == 3
    kept.saved.clear()
    compute(JOB, sites(HUNDRED[0], HUNDRED[1], box(0, 200, 8, 300)), bundle, chunks=kept)
    assert len(kept.saved) == 1, "only the site that moved"


def test_a_damaged_chunk_is_computed_again(bundle: Bundle) -> None:
    batch, kept = sites(*HUNDRED[:2]), Kept()
    first = compute(JOB, batch, bundle, chunks=kept)
    for name in kept.content:
        kept.content[name] = kept.content[name][:10]
    assert compute(JOB, batch, bundle, chunks=kept).main.rows == first.main.rows


def test_chunks_in_the_store(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = open_store(tmp_path_factory.mktemp("store").as_uri())
    chunks = StoreChunks(store, "executions/u/r1/checkpoint")
    assert chunks.load("a.json") is None
    compute(JOB, sites(*HUNDRED[:4]), bundle, chunks=chunks)
    assert len(list(store.list("executions/u/r1/checkpoint/"))) == 4


def test_progress_only_ever_grows(bundle: Bundle) -> None:
    heard: list[float] = []
    compute(JOB, sites(*HUNDRED[:7]), bundle, progress=lambda done, _: heard.append(done))
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0.0, 1.0)
