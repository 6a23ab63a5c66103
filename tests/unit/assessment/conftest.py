"""A small world to assess: layers made by hand, built into a real bundle."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from assessment import cli
from assessment.bundle.bundle import Bundle
from tests.unit.assessment.world import World


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Call = Callable[..., Ended]


@pytest.fixture(scope="session")
def nrf() -> Path:
    """The folder of the sample data."""
    place = os.environ.get("SWITCHYARD_NRF_DATA")
    if not place:
        pytest.skip("SWITCHYARD_NRF_DATA is not set")
    return Path(place)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def norfolk(nrf: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The sample's layers, with a synthetic coefficient layer under them, built once."""
    from assessment.bundle.build import build
    from assessment.bundle.bundle import open_bundle
    from assessment.bundle.parcels import Ground
    from assessment.bundle.sources import in_folder
    from benchmarks.assessment import scale

    folder = tmp_path_factory.mktemp("norfolk")
    parcels = folder / "coefficient_layer.parquet"
    scale.write(parcels, Ground(25_600, 570_000.0, 268_000.0, 500.0))
    sources = in_folder(nrf / "reference")
    sources.add("coefficient_layer", str(parcels))
    build(sources, folder / "bundle", lambda _: None)
    return open_bundle(folder / "bundle")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """The `assessment` command in this process."""
    for name in [name for name in os.environ if name.startswith(("SWITCHYARD_", "SQS_", "AWS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def called(*words: object, **environ: str) -> Ended:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["assessment", *map(str, words)])
        capsys.readouterr()  # what was said before, by fixtures where an earlier test has set up logging
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return called
