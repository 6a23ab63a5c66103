"""`assessment run` as a process: what it writes, what it prints, how it ends."""

import csv
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assessment.nutrient.columns import COLUMNS
from tests.acceptance.assessment.conftest import Run


def test_every_output_of_a_nutrient_assessment(assessment: Run, region: Path, tmp_path: Path) -> None:
    done = assessment("run", region / "sites.geojson", "-b", region / "bundle", "-o", tmp_path, "-f", "all")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "nutrient.csv",
        "nutrient.gpkg",
        "nutrient.parquet",
        "nutrient.geojson",
        "out_of_scope.csv",
        "out_of_scope.parquet",
        "out_of_scope.geojson",
        "report.html",
        "output.json",
    }
    with (tmp_path / "nutrient.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    output = json.loads((tmp_path / "output.json").read_text())
    assert output["version"] == 1
    assert output["assessment"] == "nutrient"
    assert output["summary"]["sites"] == len(rows) == len(output["features"])
    assert output["summary"]["n_total"] == pytest.approx(sum(float(row["N_Total"]) for row in rows))
    assert set(output["features"][0]["properties"]) == {column.lower() for column in COLUMNS}
    assert -9 < output["features"][0]["geometry"]["coordinates"][0][0][0] < 2
    assert {file["name"] for file in output["files"]} == names - {"output.json"}
    assert {"bundle", "edition", "mode", "code_version", "input_sha256"} <= output["provenance"].keys()


def test_a_newt_assessment(assessment: Run, region: Path, tmp_path: Path) -> None:
    done = assessment(
        "run",
        region / "newt_sites.geojson",
        *(
            "-a",
            "gcn",
            "-b",
            region / "bundle",
            "--ponds",
            region / "ponds.geojson",
            "-o",
            tmp_path,
            "--json",
        ),
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["summary"].keys() >= {"habitat", "ponds"}
    assert json.loads((tmp_path / "output.json").read_text())["summary"] == said["summary"]
    assert "gcn" in (tmp_path / "report.html").read_text()


def test_one_site_loads_only_what_it_needs(region: Path, tmp_path: Path) -> None:
    """A cold start is imports: each of these would add a tenth of it or more."""
    document = json.loads((region / "sites.geojson").read_text())
    (tmp_path / "one.geojson").write_text(json.dumps({**document, "features": document["features"][:1]}))
    words = ["run", tmp_path / "one.geojson", "-q", "--no-report", "-b", region / "bundle", "-o", tmp_path]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "assessment", *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"numpy", "shapely"} <= loaded
    heavy = {"pyproj", "jinja2", "numpy.ma", "pandas", "geopandas", "pyarrow", "pyogrio", "boto3", "pydantic"}
    heavy |= {
        "rich",
        "structlog",
        "typer",
        "flask",
        "prometheus_client",
        "concurrent.futures",
        "assessment.gcn",
    }
    assert not heavy & loaded


def test_the_report_needs_nothing_from_outside(assessment: Run, region: Path, tmp_path: Path) -> None:
    assert (
        assessment("run", region / "sites.geojson", "-b", region / "bundle", "-o", tmp_path).returncode == 0
    )
    html = (tmp_path / "report.html").read_text()
    assert "<svg" in html
    assert "<script" not in html
    assert not re.findall(r"src=|href=(?!\"#)|url\((?!#)|@import|https?://", html), (
        "links lead within the page"
    )


def test_progress_is_log_lines_where_nobody_watches(assessment: Run, region: Path, tmp_path: Path) -> None:
    ids = {"SWITCHYARD_CORRELATION_ID": "request-7"}
    done = assessment("run", region / "sites.geojson", "-b", region / "bundle", "-o", tmp_path, env=ids)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines[0]["progress"] == 0.0
    assert lines[-1]["progress"] == 1.0
    assert all(line["correlation_id"] == "request-7" and line["action_uuid"] is None for line in lines)


def test_a_request_from_the_environment(assessment: Run, region: Path, tmp_path: Path) -> None:
    """As a pod or a local execution receives it: input and output are URLs in the store."""
    run = tmp_path / "executions" / "u" / "r1"
    run.mkdir(parents=True)
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "sites").write_bytes((region / "sites.geojson").read_bytes())
    request = {
        "assessment": "nutrient",
        "edition": "B",
        "mode": "compatible",
        "input": {"key": "uploads/sites"},
        "bundle": str(region / "bundle"),
    }
    (run / "input.json").write_text(json.dumps(request))
    env = {
        "SWITCHYARD_INPUT": (run / "input.json").as_uri(),
        "SWITCHYARD_OUTPUT": run.as_uri(),
        "SWITCHYARD_STORE": tmp_path.as_uri(),
    }
    refused = assessment("run", env=env)
    assert refused.returncode == 65
    assert "is not covered by any --allow-url" in refused.stderr
    done = assessment("run", env={**env, "SWITCHYARD_ALLOW_URL": f"{region.as_uri()}/"})
    assert done.returncode == 0, done.stderr
    output = json.loads((run / "output.json").read_text())
    assert (output["provenance"]["edition"], output["provenance"]["mode"]) == ("B", "compatible")
    assert list((run / "checkpoint").iterdir()), "a retried pod must find what was done"


def test_bad_input_is_one_line_and_65(assessment: Run, region: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"PK\x03\x04 and then nothing")
    done = assessment("run", bad, "-b", region / "bundle", "-o", tmp_path / "out", "-q")
    assert done.returncode == 65
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out" / "output.json").exists()


def test_no_bundle_is_a_matter_of_configuration(assessment: Run, region: Path) -> None:
    done = assessment("run", region / "sites.geojson", "-q")
    assert done.returncode == 78
    assert "bundle" in done.stderr


@pytest.mark.parametrize("command", [(), ("run",), ("bundle",), ("bundle", "build")])
def test_help_shows_an_example(assessment: Run, command: tuple[str, ...]) -> None:
    done = assessment(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert (len(command) < 2 and command != ("run",)) or "Example" in done.stdout


def test_a_bar_on_a_terminal(region: Path, tmp_path: Path) -> None:
    """With a pseudo-terminal for stderr the progress is drawn, not logged."""
    import os
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "assessment", "run", str(region / "sites.geojson")]
    command += ["-b", str(region / "bundle"), "-o", str(tmp_path)]
    with subprocess.Popen(
        command, stderr=follower, stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(follower)
        drawn = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            drawn += part
        assert process.wait(60) == 0
    os.close(leader)
    assert b"%" in drawn
    assert b'"progress"' not in drawn


def test_interrupted_it_ends_without_a_traceback(region: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assessment", "run", str(region / "sites.geojson")]
    command += ["-b", str(region / "bundle"), "-o", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors


def test_an_edition_from_a_file(assessment: Run, region: Path, tmp_path: Path) -> None:
    own = tmp_path / "next.toml"
    own.write_text('default = "D"\n[edition.D]\ndate = 2027-04-01\npermit_factor = 0.5\n')
    done = assessment(
        "run", region / "sites.geojson", "-b", region / "bundle", "-o", tmp_path, "-e", own, "-q"
    )
    assert done.returncode == 0, done.stderr
    provenance = json.loads((tmp_path / "output.json").read_text())["provenance"]
    assert provenance["edition"] == "D"
    assert provenance["rules"]["permit_factor"] == 0.5
    assert "Edition D" in (tmp_path / "report.html").read_text()
