"""Chooses the folder of the server's socket: beside the data or, if that path is too long, elsewhere."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from switchyard.embedded.account import Account
from switchyard.errors import EmbeddedPostgresError

LONGEST = 107  # what fits into a socket address of the kernel
_NAME = "/.s.PGSQL.65535"


def socket_folder(folder: Path, account: Account) -> Path:
    """A folder for the socket that only the server's own account, and root, may enter."""
    if _fits(folder / "run"):
        return _private(folder / "run", account)
    short = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    for base in _bases(account):
        place = base / f"switchyard-{account.uid}-{short}"
        if base.is_dir() and _fits(place):
            return _private(place, account)
    raise EmbeddedPostgresError(
        f"a socket in {folder} would have a path with a comma or of more than {LONGEST} bytes, and so would "
        "one in the folder for temporary files: set TMPDIR to a short one"
    )


def _bases(account: Account) -> list[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    own = [Path(runtime)] if runtime and not account.switch else []
    return [*own, Path(tempfile.gettempdir())]


def _fits(place: Path) -> bool:
    """Short enough, and without the comma by which clients take a list of hosts apart."""
    return "," not in str(place) and len(os.fsencode(place)) + len(_NAME) <= LONGEST


def _private(place: Path, account: Account) -> Path:
    """Create a private folder, or accept an existing one with the right owner and mode."""
    try:
        place.mkdir(mode=0o700)
        account.give(place)
    except FileExistsError:
        status = place.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or status.st_mode & 0o077:
            raise EmbeddedPostgresError(
                f"{place} is not a folder that only user {account.uid} may enter; remove it"
            ) from None
    return place
