"""The folder of `switchyard up`; a second start continues where the first stopped."""

import base64
import contextlib
import fcntl
import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from switchyard.config.trust import refuse_others
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

    def port(self, wanted: int | None) -> int:
        """The receiver's: the same at every start, because callbacks that wait were given its address."""
        kept = self.path / "receiver.json"
        if wanted is None and kept.exists():
            port: int = json.loads(kept.read_text())["port"]
            return port
        if wanted is None:
            with socket.create_server(("127.0.0.1", 0)) as free:
                wanted = free.getsockname()[1]
        kept.write_text(json.dumps({"port": wanted}))
        return wanted

    @property
    def submitted(self) -> Path:
        """The id of the sample, so that a second start follows it instead of asking again."""
        return self.path / "sample.json"


def dashboard_port(environ: Mapping[str, str]) -> int:
    """Signalbox's: the one that the environment names, else 8080, else any that is free."""
    if given := environ.get("SWITCHYARD_SIGNALBOX__LISTEN__PORT"):
        return int(given)
    for port in (8080, 0):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as free:
            found: int = free.getsockname()[1]
            return found
    raise ConfigError("no port is free on 127.0.0.1")


def prepare(path: Path) -> Folder:
    """The folder, made where it is not there; what is in it is for this user alone."""
    folder = Folder(path.expanduser().resolve())
    folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in (folder.path, folder.config, folder.secret):
        refuse_others(part, "choose another folder with --folder")
    for part in (folder.logs, folder.deliveries, folder.store):
        part.mkdir(mode=0o700, exist_ok=True)
        part.chmod(0o700)
    _secret(folder)
    return folder


@contextmanager
def alone(folder: Folder) -> Iterator[None]:
    """Lock the folder; a second start in it is refused."""
    with (folder.path / "up.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"`switchyard up` runs in {folder.path} already: stop it, or choose another with --folder"
            ) from None
        yield


def _secret(folder: Folder) -> None:
    if not folder.secret.exists():
        folder.secret.touch(mode=0o600)
        folder.secret.write_text("whsec_" + base64.b64encode(os.urandom(32)).decode())


def write_config(folder: Folder, port: int, url: str) -> None:
    """Write the configuration once; later only the receiver's port is updated, the rest is the user's."""
    if folder.config.exists():
        written = folder.config.read_text()
        write_whole(
            folder.config, re.sub(r"http://127\.0\.0\.1:\d+/hook", f"http://127.0.0.1:{port}/hook", written)
        )
        return
    template = Template((files(__package__) / "sample.yaml").read_text())
    write_whole(
        folder.config, template.substitute(folder=folder.path, port=port, python=sys.executable, url=url)
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically."""
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.rename(path)
