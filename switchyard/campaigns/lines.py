"""A file of JSON lines: each has the parameters of one action, named by its `id` or else its line number."""

import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO

from switchyard.campaigns.page import REJECTED, Cursor, Item, Page, item
from switchyard.errors import BadInput

LINES = 1000
LONGEST = 2 * 1024 * 1024  # bytes of a line; parameters are at most 1 MiB
LARGEST = 8 * 1024 * 1024  # bytes of a page


class LinesSource:
    """Reads the file from a byte offset; a hash of the whole file detects changes."""

    def __init__(self, path: Path, lines: int = LINES) -> None:
        self._path, self._lines = path, lines
        try:
            with path.open("rb") as file:
                self._sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BadInput(f"--from-file: {path} cannot be read: {error.strerror}") from error

    def description(self) -> dict[str, Any]:
        """The name and the hash of the file."""
        return {"file": self._path.name, "sha256": self._sha256}

    def page(self, cursor: Cursor) -> Page:
        """The lines from that offset."""
        offset, number = cursor.get("offset", 0), cursor.get("line", 0)
        items: list[Item] = []
        with self._path.open("rb") as file:
            file.seek(offset)
            while len(items) < self._lines and file.tell() - offset < LARGEST:
                line = file.readline(LONGEST)
                if not line:
                    return Page(items, {"offset": file.tell(), "line": number}, last=True)
                number += 1
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    items.append(REJECTED)
                    _skip_line(file)
                elif line.strip():
                    items.append(_item(line, number))
            return Page(items, {"offset": file.tell(), "line": number}, last=False)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass


def _item(line: bytes, number: int) -> Item:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        return REJECTED
    if not isinstance(body, dict):
        return REJECTED
    return item(body.get("id", f"line {number}"), body)
