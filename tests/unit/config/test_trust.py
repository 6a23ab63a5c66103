"""Security M11: ./switchyard.yaml is used by itself only if no other user can have written it."""

import os
from pathlib import Path

import pytest

from switchyard.config.connection import find
from switchyard.errors import ConfigError

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that a command is run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(path: Path, mode: int = 0o644) -> Path:
    path.touch()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_a_file_of_our_own_is_used(here: Path, mode: int) -> None:
    made(here / "switchyard.yaml", mode)
    assert find(None, {}) == Path("switchyard.yaml")


@as_root
def test_security_m11_a_file_that_another_user_owns_has_to_be_named(here: Path) -> None:
    os.chown(made(here / "switchyard.yaml"), NOBODY, NOBODY)
    with pytest.raises(ConfigError, match="belongs to another user: name it with -c or SWITCHYARD_CONFIG"):
        find(None, {})
    with pytest.raises(ConfigError, match="belongs to another user"):
        find(None, {"SWITCHYARD_ACTIONS__X__TYPE": "noop"})
    assert find("switchyard.yaml", {}) == Path("switchyard.yaml")
    assert find(None, {"SWITCHYARD_CONFIG": "switchyard.yaml"}) == Path("switchyard.yaml")


def test_security_m11_a_file_that_everybody_may_write_is_refused(here: Path) -> None:
    made(here / "switchyard.yaml", 0o666)
    with pytest.raises(ConfigError, match=r"others may write to switchyard\.yaml: run `chmod go-w"):
        find(None, {})


@as_root
@pytest.mark.parametrize("stranger", ["link", "target"])
def test_security_m11_of_a_link_both_sides_must_be_ours(here: Path, stranger: str) -> None:
    """Kubernetes mounts a file of a ConfigMap as a link; that one belongs to root."""
    target, link = made(here / "elsewhere"), here / "switchyard.yaml"
    link.symlink_to(target)
    assert find(None, {}) == Path("switchyard.yaml")
    os.chown(target if stranger == "target" else link, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(ConfigError, match="belongs to another user"):
        find(None, {})
