"""Turns the output of a failed start of Postgres into an error with a remedy."""

from pathlib import Path

from switchyard.errors import EmbeddedPostgresError

_TAIL = 6
# Searched for in this order; the first that occurs in the output of Postgres is the reason.
_REASONS = (
    ("no space left on device", "the disk is full: make room there and start again"),
    ("disk quota exceeded", "the disk quota is used up: make room there and start again"),
    ("read-only file system", "the file system is read-only"),
    ("database files are incompatible with server", "the data was made by another major version of Postgres; "
     "dump it with that version, or choose a new folder"),
    ("could not look up effective user id", "this user id has no name in /etc/passwd, which Postgres needs"),
    ("could not resize shared memory", "there is too little shared memory (/dev/shm)"),
    ("could not map anonymous shared memory", "there is too little memory for its shared buffers"),
    ("pre-existing shared memory block", "processes of a server that was killed still run on this data"),
    ("could not locate a valid checkpoint record", "the data is damaged: restore a backup, or start afresh"),
    ("permission denied", "a permission is missing"),
)  # fmt: skip


def explained(what: str, folder: Path, said: str) -> EmbeddedPostgresError:
    """The error for people: what failed, where, the likely reason, and the last words of Postgres."""
    lower = said.lower()
    reason = next((text for sign, text in _REASONS if sign in lower), "it did not say a reason that we know")
    tail = "\n  ".join(said.strip().splitlines()[-_TAIL:])
    last = f"\n  {tail}" if tail else ""
    return EmbeddedPostgresError(f"the embedded Postgres in {folder} {what}: {reason}{last}")
