"""The command's ways to end."""

from tests.acceptance.caboose.conftest import Stations
from tests.acceptance.caboose.station import command, stop
from tests.waiting import until

FLOWS = {"flow": {"action": "run", "template": "true"}}


def test_exit_codes(stations: Stations) -> None:
    station = stations(FLOWS)
    environ, file = station.environ, str(station.file)
    assert command("run", "-c", file, "--shard", "4/2", environ=environ).returncode == 2
    unknown = command("run", "-c", file, "--source", "carrier-pigeon", environ=environ)
    assert unknown.returncode == 78
    assert "there are argo, cirrus, local, sqs" in unknown.stderr
    assert command("run", "-c", "/no/such/file", environ=environ).returncode == 78
    away = {**environ, "DATABASE_URL": "postgresql://nobody:hush-hush@127.0.0.1:1/none"}
    unreachable = command("run", "-c", file, environ=away)
    assert unreachable.returncode == 75
    assert "cannot connect" in unreachable.stderr
    assert "hush-hush" not in unreachable.stderr + unreachable.stdout
    station.database.execute("drop schema switchyard cascade")
    bare = command("run", "-c", file, environ=environ)
    assert bare.returncode == 78
    assert "switchyard migrate" in bare.stderr
    station.database.execute(
        "create schema switchyard; create function switchyard.verify() returns table (problem text) "
        "language sql as 'select null where false'"
    )


def test_help_has_an_example() -> None:
    shown = command("run", "--help", environ={"PATH": "/usr/bin:/bin", "COLUMNS": "200"})
    assert shown.returncode == 0
    assert "caboose run -c" in shown.stdout
    assert "--shard" in shown.stdout


def test_a_changed_configuration_is_read_on_sighup(stations: Stations) -> None:
    import os
    import signal

    station = stations(FLOWS)
    station.caboose.start()
    until(lambda: station.get("/readyz")[0] == 200, 30)
    before = station.database.execute("select config_hash from switchyard.fleet")
    good = station.file.read_text()
    station.file.write_text("nonsense: true\n")
    os.kill(station.caboose.pid, signal.SIGHUP)
    until(lambda: "the new configuration is not used" in station.caboose.log.read_text(), 10)
    assert station.get("/livez")[0] == 200
    station.file.write_text(good.replace("template: 'true'", "template: 'false'"))
    os.kill(station.caboose.pid, signal.SIGHUP)
    until(lambda: len(station.database.execute("select distinct config_hash from switchyard.fleet")) == 2, 20)
    assert before
    assert stop(station.caboose) == 0
