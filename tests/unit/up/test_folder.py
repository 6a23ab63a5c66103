"""The folder of `switchyard up`: what a second start finds, and what it may change."""

import os
from pathlib import Path

import pytest

from switchyard.config.load import load
from switchyard.errors import ConfigError
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


def test_the_port_stays_until_another_is_wanted(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    first = folder.port(None)
    assert prepare(tmp_path).port(None) == first
    assert [folder.port(4444), folder.port(None)] == [4444, 4444]


def test_the_secret_is_made_once_and_is_private(tmp_path: Path) -> None:
    secret = prepare(tmp_path).secret
    kept = secret.read_text()
    assert kept.startswith("whsec_")
    assert secret.stat().st_mode & 0o777 == 0o600
    assert prepare(tmp_path).secret.read_text() == kept


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_security_m11_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "up"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(ConfigError, match=r"others may write to .*: run `chmod go-w"):
        prepare(folder)


@pytest.mark.parametrize("name", ["switchyard.yaml", "webhook.secret"])
def test_security_m11_a_file_that_others_may_write_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o666)
    with pytest.raises(ConfigError, match="others may write"):
        prepare(tmp_path)


def test_security_m11_a_link_to_a_configuration_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch(0o600)
    (tmp_path / "switchyard.yaml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="belongs to another user"):
        prepare(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", ["", "switchyard.yaml"])
def test_security_m11_what_another_user_made_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "up"
    folder.mkdir(mode=0o700)
    (folder / "switchyard.yaml").touch(0o600)
    os.chown(folder / name, 65534, 65534)
    with pytest.raises(ConfigError, match="belongs to another user"):
        prepare(folder)


def test_security_l15_what_is_stored_is_private(tmp_path: Path) -> None:
    folder = prepare(tmp_path / "up")
    places = [folder.path, folder.logs, folder.deliveries, folder.store]
    assert {place.stat().st_mode & 0o777 for place in places} == {0o700}
