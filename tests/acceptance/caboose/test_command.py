"""The command's ways to end."""

import json
import subprocess
from pathlib import Path

from tests.acceptance.caboose.conftest import Stations
from tests.deployment.deployment import BIN
from tests.waiting import until

FLOWS = {"flow": {"action": "run", "template": "true"}}


def test_exit_codes(stations: Stations) -> None:
    station = stations(FLOWS)
    assert station.run("caboose", "run", "-c", station.file, "--shard", "4/2").returncode == 2
    unknown = station.run("caboose", "run", "-c", station.file, "--source", "carrier-pigeon")
    assert unknown.returncode == 78
    assert "there is no type 'carrier-pigeon'; there are argo, argo_resume, cirrus" in unknown.stderr
    assert station.run("caboose", "run", "-c", "/no/such/file").returncode == 78
    away = "postgresql://nobody:hush-hush@127.0.0.1:1/none"
    unreachable = station.run("caboose", "run", "-c", station.file, DATABASE_URL=away)
    assert unreachable.returncode == 75
    assert "cannot connect" in unreachable.stderr
    assert "hush-hush" not in unreachable.stderr + unreachable.stdout
    station.database.execute("drop schema switchyard cascade")
    bare = station.run("caboose", "run", "-c", station.file)
    assert bare.returncode == 78
    assert "switchyard migrate" in bare.stderr
    station.database.execute(
        "create schema switchyard; create function switchyard.verify() returns table (problem text) "
        "language sql as 'select null where false'"
    )


def test_help_has_an_example(stations: Stations) -> None:
    shown = stations(FLOWS).run("caboose", "run", "--help", COLUMNS="200")
    assert shown.returncode == 0
    assert "caboose run -c" in shown.stdout
    assert "--shard" in shown.stdout


def test_a_changed_configuration_is_read_on_sighup(stations: Stations) -> None:
    import signal

    station = stations(FLOWS)
    station.caboose.start()
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    before = station.database.execute("select config_hash from switchyard.fleet")
    good = station.file.read_text()
    station.file.write_text("nonsense: true\n")
    station.caboose.send(signal.SIGHUP)
    until(lambda: "the configuration stays as it was" in station.caboose.log.read_text())
    assert station.caboose.get("/livez")[0] == 200
    station.file.write_text(good.replace("template: 'true'", "template: 'false'"))
    station.caboose.send(signal.SIGHUP)
    until(lambda: len(station.database.execute("select distinct config_hash from switchyard.fleet")) == 2)
    assert before
    assert station.caboose.stop() == 0


def test_newuser_6_and_hole_8_a_changed_file_is_taken_over_without_a_signal(stations: Stations) -> None:
    station = stations(FLOWS)
    station.caboose.start()
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    address = station.caboose.health()
    station.file.write_text(station.file.read_text().replace("template: 'true'", "template: 'false'"))
    until(lambda: len(station.database.execute("select distinct config_hash from switchyard.fleet")) == 2)
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    assert station.caboose.health() == address, "the health server stays where it is"
    assert station.caboose.stop() == 0


def test_a_configuration_that_caboose_cannot_start_with_leaves_the_last_good_one(stations: Stations) -> None:
    station = stations(FLOWS)
    station.caboose.start()
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    good = station.file.read_text()
    station.file.write_text(good.replace("env:DATABASE_URL", "env:NOTHING_HERE"))
    until(lambda: station.caboose.said("the configuration stays as it was"))
    until(lambda: "the file cannot be used" in station.caboose.get("/readyz")[1])
    assert station.caboose.get("/livez")[0] == 200
    station.file.write_text(good)
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    assert station.caboose.stop() == 0


def test_mission_b10_caboose_needs_no_file(stations: Stations, tmp_path: Path) -> None:
    station = stations(FLOWS)
    environ = {
        **station.environ,
        "SWITCHYARD_DATABASE__URL": station.database.url,
        "SWITCHYARD_STORE": f"file://{tmp_path}/store",
        "SWITCHYARD_ACTIONS": json.dumps({"l": {"type": "local", "spool": f"{tmp_path}/spool"}}),
    }
    empty = tmp_path / "empty"
    empty.mkdir()
    with subprocess.Popen(
        [BIN / "caboose", "run"], env=environ, cwd=empty, stderr=subprocess.DEVNULL
    ) as caboose:
        running = [("caboose", "running")]
        until(lambda: station.database.execute("select kind, state from switchyard.fleet") == running)
        caboose.terminate()
        assert caboose.wait(60) == 0
