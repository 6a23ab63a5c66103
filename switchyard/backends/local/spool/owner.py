"""A spool belongs to one host, because a flock has no effect on other hosts."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from switchyard.backends.local.spool import record
from switchyard.errors import ConfigError

OWNER = "spool.json"


def claim(root: Path) -> str:
    """The spool's id, set by the first process that opens it; raises if another host owns the spool."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = record.read(root / OWNER) or _mark(root)
    except OSError as error:
        raise ConfigError(f"the spool {root} cannot be used: {error.strerror}") from error
    except record.UnreadableError as error:
        raise ConfigError(f"the spool {root} cannot be used: {error}") from error
    if owner.get("host") != _host():
        raise ConfigError(
            f"the spool {root} belongs to the host {owner.get('host')}, this is {_host()}: give every host "
            f"its own, or remove {root / OWNER} when that host is gone for good"
        )
    return str(owner.get("id"))


def _mark(root: Path) -> dict[str, Any]:
    """Write the mark unless another process has done so; the first link wins."""
    part = root / f".{OWNER}.{uuid4()}"
    record.write(part, {"id": str(uuid4()), "host": _host()})
    with suppress(FileExistsError):
        os.link(part, root / OWNER)
    part.unlink()
    record.flush(root)
    owner = record.read(root / OWNER)
    assert owner is not None, "the mark was linked above"
    return owner


def _host() -> str:
    """The machine's id if there is one: host names change and are not unique."""
    with suppress(OSError):
        if text := Path("/etc/machine-id").read_text(encoding="ascii").strip():
            return text
    return socket.gethostname()
