"""The command's ways to end."""

from tests.acceptance.caboose.conftest import Stations
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
    until(lambda: station.caboose.get("/readyz")[0] == 200, 30)
    before = station.database.execute("select config_hash from switchyard.fleet")
    good = station.file.read_text()
    station.file.write_text("nonsense: true\n")
    station.caboose.send(signal.SIGHUP)
    until(lambda: "the new configuration is not used" in station.caboose.log.read_text(), 10)
    assert station.caboose.get("/livez")[0] == 200
    station.file.write_text(good.replace("template: 'true'", "template: 'false'"))
    station.caboose.send(signal.SIGHUP)
    until(lambda: len(station.database.execute("select distinct config_hash from switchyard.fleet")) == 2, 20)
    assert before
    assert station.caboose.stop() == 0
