"""Whether a file or folder found by default may be used: it must belong to the user or root."""

import os
import shlex
from pathlib import Path

from switchyard.errors import ConfigError


def refuse_others(path: Path, instead: str, *, private: bool = True) -> None:
    """Raise ConfigError if another user owns it or may write to it: a configuration names commands to run.

    `private`: it is for one user alone, so neither a group may write to it nor a link stand for it. Otherwise
    links are followed, because Kubernetes mounts files by links, and a group is trusted, because a umask of
    002 gives it every file.
    """
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}  # whoever owns a link decides what is read
    except FileNotFoundError:
        return
    if not owners <= {os.geteuid(), 0} or (private and path.is_symlink()):
        raise ConfigError(f"{path} belongs to another user: {instead}")
    if path.stat().st_mode & (0o022 if private else 0o002):
        command = f"chmod go-w {shlex.quote(str(path))}"
        raise ConfigError(f"others may write to {path}: run `{command}` if it is yours")
