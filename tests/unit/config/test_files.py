"""Files that the configuration names may be anything, and none of them hangs a program."""

import os
from pathlib import Path

import pytest

from switchyard.config.load import load
from switchyard.config.secrets import SecretRef
from switchyard.errors import ConfigError

pytestmark = pytest.mark.timeout(60)


def test_a_secret_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token")
    with pytest.raises(ConfigError, match="it is not a regular file"):
        SecretRef("file", str(tmp_path / "token")).resolve()


def test_a_secret_that_is_a_folder_or_gone_is_refused(tmp_path: Path) -> None:
    for name in (".", "nothing"):
        with pytest.raises(ConfigError, match="cannot be read"):
            SecretRef("file", str(tmp_path / name)).resolve()


def test_a_secret_behind_links_is_read_as_kubernetes_mounts_it(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "token").write_text("whisper\n")
    (tmp_path / "token").symlink_to(Path("..data") / "token")
    assert SecretRef("file", str(tmp_path / "token")).resolve() == "whisper"


def test_a_schema_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "input.json")
    file = tmp_path / "switchyard.yaml"
    file.write_text("actions: {a: {type: noop}}\nworkflows: {w: {action: a, input_schema: input.json}}\n")
    with pytest.raises(ConfigError, match="it is not a regular file"):
        load(file, {})
