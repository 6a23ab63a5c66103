"""Chooses the server's user: Postgres refuses to run as root, so root needs another account.

No account is created and no existing file changes its owner. Access is granted narrowly where the account
lacks it: folders above the data get the search bit for their own group, which the server is given; binaries
are copied.
"""

import os
import pwd
import shutil
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from switchyard.errors import EmbeddedPostgresError

CANDIDATES = ("postgres", "nobody")


class Become(TypedDict, total=False):
    """Arguments of subprocess.Popen."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Account:
    """A user to become; `switch` is False where we are that user already."""

    uid: int
    gid: int
    switch: bool
    groups: frozenset[int] = field(default=frozenset())

    def arguments(self) -> Become:
        """Arguments of subprocess.Popen to become that user."""
        if not self.switch:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": sorted(self.groups)}

    def give(self, path: Path) -> None:
        """Make it the account's own."""
        if self.switch:
            os.chown(path, self.uid, self.gid)


def account_for(data: Path) -> Account:
    """Who we are, or for root: who owns the data already, else the first candidate that exists."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    if data.exists() and data.stat().st_uid != 0:
        owner = data.stat()
        return Account(owner.st_uid, owner.st_gid, switch=True)
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, switch=True)
    raise EmbeddedPostgresError(
        f"Postgres does not run as root, and there is no user {' or '.join(CANDIDATES)} here to run it as"
    )


def let_through(account: Account, folder: Path) -> Account:
    """The account with the groups that it needs to reach `folder`."""
    if not account.switch:
        return account
    groups = set(account.groups)
    for step in (folder, *folder.parents):
        status = step.stat()
        if status.st_mode & stat.S_IXOTH or status.st_uid == account.uid:
            continue
        groups.add(status.st_gid)
        if not status.st_mode & stat.S_IXGRP:
            _open_to_group(step, status.st_mode)
    return replace(account, groups=frozenset(groups))


def _open_to_group(folder: Path, mode: int) -> None:
    try:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IXGRP)
    except OSError as error:
        raise EmbeddedPostgresError(
            f"Postgres cannot run as root, and another user cannot reach {folder}: {error.strerror}; "
            "choose a folder elsewhere, or run as a person"
        ) from error


def reachable(account: Account, install: Path, copy: Path) -> Path:
    """The installation, or for root a copy of it where others may not read it."""
    if not account.switch or _is_public(install):
        return install
    package = install.parent
    copied = copy / package.name / install.name
    if not copied.exists():
        made = copy.with_name(f"{copy.name}.new")
        for old in (made, copy):
            shutil.rmtree(old, ignore_errors=True)
        # The binaries look for their libraries in a folder beside the package, so that comes along.
        for part in (install, package.with_name(f"{package.name}.libs")):
            if part.exists():
                _copy(part, made / part.relative_to(package.parent))
        _open_to_read(made)
        made.rename(copy)
    return copied


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(
        source, target, symlinks=True, ignore=shutil.ignore_patterns("include", "doc", "pkgconfig")
    )


def _open_to_read(copy: Path) -> None:
    """Make the copy readable for the server's account, folders included, regardless of the umask."""
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.parent.name == "bin"
            path.chmod(0o755 if executable else 0o644)


def _is_public(install: Path) -> bool:
    binary = install / "bin" / "postgres"
    share = install / "share" / "postgres.bki"
    walkable = all(folder.stat().st_mode & stat.S_IXOTH for folder in binary.parents)
    return walkable and bool(binary.stat().st_mode & stat.S_IXOTH and share.stat().st_mode & stat.S_IROTH)
