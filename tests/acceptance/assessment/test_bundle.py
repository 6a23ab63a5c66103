"""`assessment bundle` as a process."""

import json
import shutil
from pathlib import Path

from tests.acceptance.assessment.conftest import Run


def test_show_and_check_a_good_bundle(assessment: Run, region: Path) -> None:
    shown = assessment("bundle", "show", region / "bundle", "--json")
    manifest = json.loads(shown.stdout)
    assert manifest["layers"].keys() >= {"coefficient_layer", "nn_catchments", "gcn_risk_zones", "gcn_ponds"}
    assert "coefficient_layer" in assessment("bundle", "show", region / "bundle").stdout
    checked = assessment("bundle", "check", region / "bundle")
    assert checked.returncode == 0, checked.stdout
    assert "warning" in checked.stdout


def test_check_sees_a_damaged_file(assessment: Run, region: Path, tmp_path: Path) -> None:
    shutil.copytree(region / "bundle", tmp_path / "bundle")
    version = (tmp_path / "bundle" / "current").read_text().strip()
    damaged = tmp_path / "bundle" / version / "nn_catchments" / "coords.npy"
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    checked = assessment("bundle", "check", tmp_path / "bundle", "--json")
    assert checked.returncode == 65
    assert not json.loads(checked.stdout)["ok"]


def test_no_worker_starts_with_a_damaged_bundle(assessment: Run, region: Path, tmp_path: Path) -> None:
    shutil.copytree(region / "bundle", tmp_path / "bundle")
    version = (tmp_path / "bundle" / "current").read_text().strip()
    damaged = tmp_path / "bundle" / version / "coefficient_layer" / "coords.npy"
    damaged.write_bytes(damaged.read_bytes()[:-4096] + bytes(4096))
    done = assessment("work", "-b", tmp_path / "bundle", "--store", (tmp_path / "store").as_uri())
    assert done.returncode == 78
    assert done.stderr.startswith("assessment: the bundle ")
    assert len(done.stderr.splitlines()) == 1


def test_build_keeps_two_versions(assessment: Run, region: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    shutil.copy(region / "sources" / "nn_catchments.gpkg", sources)
    versions = []
    for occupancy in ("2.4", "2.5", "2.6"):
        (sources / "rates_lookup.csv").write_text(
            f"NN_Catchment,Occ_Rate,Water_Usage_L_Day\nRiver Alder SAC,{occupancy},120\n"
        )
        built = assessment("bundle", "build", tmp_path / "bundle", sources, "--json")
        assert built.returncode == 0, built.stderr
        versions.append(json.loads(built.stdout)["version"])
    kept = {path.name for path in (tmp_path / "bundle").iterdir() if path.is_dir()}
    assert kept == set(versions[1:])
    assert (tmp_path / "bundle" / "current").read_text().strip() == versions[-1]


def test_the_gate_refuses_with_65_and_keeps_what_was(assessment: Run, region: Path, tmp_path: Path) -> None:
    shutil.copytree(region / "bundle", tmp_path / "bundle")
    before = (tmp_path / "bundle" / "current").read_text()
    built = assessment(
        "bundle",
        "build",
        tmp_path / "bundle",
        "--set",
        f"nn_catchments={region / 'sources' / 'nn_catchments.gpkg'}",
    )
    assert built.returncode == 65
    assert "missing" in built.stderr
    assert (tmp_path / "bundle" / "current").read_text() == before
