"""The folder of `switchyard up`: what a second start finds, and what it may change."""

from pathlib import Path

from switchyard.config.load import load
from switchyard.up.folder import prepare, write_config

URL = "postgresql://switchyard@/switchyard?host=%2Ftmp"


def test_the_configuration_is_the_users_but_for_the_port_that_moved(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    write_config(folder, 1111, URL)
    mine = folder.config.read_text().replace("concurrency: 2", "concurrency: 7") + "# my own words\n"
    folder.config.write_text(mine)
    write_config(folder, 2222, URL)
    assert folder.config.read_text() == mine.replace(":1111/", ":2222/")
    assert ":2222/" in folder.config.read_text()
    assert load(folder.config, {}).actions["shell"].concurrency == 7


def test_the_port_is_kept_until_another_is_wanted(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    first = folder.port(None)
    assert prepare(tmp_path).port(None) == first
    assert [folder.port(4444), folder.port(None)] == [4444, 4444]


def test_the_secret_is_made_once_and_is_nobody_elses(tmp_path: Path) -> None:
    secret = prepare(tmp_path).secret
    kept = secret.read_text()
    assert kept.startswith("whsec_")
    assert secret.stat().st_mode & 0o777 == 0o600
    assert prepare(tmp_path).secret.read_text() == kept
