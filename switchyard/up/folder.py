"""The one folder that `switchyard up` lives in; a second start goes on where the first stopped."""

import base64
import json
import os
import socket
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from switchyard.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Folder:
    """Where everything is."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "switchyard.yaml"

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def region(self) -> Path:
        return self.path / "region"

    @property
    def deliveries(self) -> Path:
        return self.path / "deliveries"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def secret(self) -> Path:
        return self.path / "webhook.secret"

    @property
    def store(self) -> Path:
        return self.path / "store"

    @property
    def submitted(self) -> Path:
        """The id of the sample, so that a second start follows it instead of asking again."""
        return self.path / "sample.json"


def prepare(path: Path, port: int | None) -> tuple[Folder, int]:
    """Make the folder; the port of the webhook receiver."""
    folder = Folder(path.expanduser().resolve())
    try:
        for part in (folder.path, folder.logs, folder.deliveries, folder.store):
            part.mkdir(parents=True, exist_ok=True)
        chosen = _port(folder, port)
        _secret(folder)
    except OSError as error:
        raise ConfigError(
            f"cannot write to {folder.path}: {error.strerror}; choose another with --folder"
        ) from error
    return folder, chosen


def _port(folder: Folder, wanted: int | None) -> int:
    """The same port at every start, because callbacks that wait were given its address."""
    kept = folder.path / "receiver.json"
    if wanted is None and kept.exists():
        port: int = json.loads(kept.read_text())["port"]
        return port
    if wanted is None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            wanted = free.getsockname()[1]
    kept.write_text(json.dumps({"port": wanted}))
    return wanted


def _secret(folder: Folder) -> None:
    if not folder.secret.exists():
        folder.secret.touch(mode=0o600)
        folder.secret.write_text("whsec_" + base64.b64encode(os.urandom(32)).decode())


def write_config(folder: Folder, port: int, url: str) -> None:
    """Written once; afterwards it is the user's to change."""
    if folder.config.exists():
        return
    template = Template((files(__package__) / "sample.yaml").read_text())
    folder.config.write_text(
        template.substitute(folder=folder.path, port=port, python=sys.executable, url=url)
    )
