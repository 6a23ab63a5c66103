"""Our side of reading an upload: a path in, validated arrays out, or one BadInput.

Each upload is read by a separate process, forked from a server that has imported GDAL
(`switchyard.process.bounded`). The process has limits on memory, CPU time, elapsed time, files and written
bytes, has no network, and ends before its answer is read. If it crashes, hangs or needs too much memory, the
result is one sentence. If many files are read (`spare`), the next process is forked and warmed in advance.
"""

import atexit
import contextlib
import pickle
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assessment.formats.gdal import ENVIRONMENT
from switchyard.errors import BadInput
from switchyard.process.bounded.child import EXCEEDED, RAISED, REQUEST
from switchyard.process.bounded.server import Child, ChildDiedError, Reply, Server

if TYPE_CHECKING:
    from assessment.intake.answer import Answer

MODULE = "assessment.intake.child"
USED_LATER = ("numpy.ma", "pyproj", "pyarrow")
"""Modules that only some files need; imported in advance if many files are read."""
LIMIT = 512 * 2**20
"""The largest file in bytes, compressed or not."""
MOST_FEATURES = 100_000
MEMORY = 900 * 2**20
CPU = 12.0
ELAPSED = 28.0
REPLY = 2**20
STARTS_WITHIN = 120.0
_TOO_LONG = "reading the file takes too long; simplify its boundaries or divide it"
_TOO_MUCH = (
    f"reading the file needs more than {MEMORY // 2**20} MiB of memory; simplify its boundaries or divide it"
)


class Reader:
    """Reads one file at a time, from one thread."""

    def __init__(self, *, spare: bool = False) -> None:
        self._server = Server([MODULE, *(USED_LATER if spare else ())], ENVIRONMENT)
        self._spare = spare
        self._next: Child | None = None
        self.cpu = 0.0
        """CPU seconds that the last file took."""

    def start(self) -> None:
        """Start importing; the file may arrive later."""
        self._server.start()
        if self._spare and self._next is None:
            self._next = self._server.fork().send(_call("warm"), STARTS_WITHIN)

    def read(
        self,
        path: Path,
        kind: str,
        layer: str | None = None,
        *,
        limit: int = LIMIT,
        most: int = MOST_FEATURES,
    ) -> "Answer":
        """Read a file; `kind` is nutrient, gcn or ponds."""
        from assessment.intake.answer import read  # noqa: PLC0415 - the server is started before numpy is imported

        with tempfile.TemporaryDirectory(prefix="assessment-answer-") as folder:
            target = Path(folder) / "answer"
            child = self._child()
            try:
                reply = child.ask(
                    _call("read", str(path.absolute()), kind, layer, str(target), most, limit), ELAPSED, REPLY
                )
            except ChildDiedError as death:
                raise BadInput(_died(death)) from None
            finally:
                child.end()
                if self._spare:
                    self.start()
            self.cpu = _checked(reply)
            return read(target)

    def close(self) -> None:
        if self._next is not None:
            self._next.end()
            self._next = None
        self._server.close()

    def _child(self) -> Child:
        waiting, self._next = self._next, None
        if waiting is not None:
            with contextlib.suppress(ChildDiedError):
                waiting.reply(STARTS_WITHIN, REPLY)
                return waiting
        return self._server.fork()


@cache
def shared_reader() -> Reader:
    """The reader of a program that reads a few files; closed when the program ends."""
    reader = Reader()
    atexit.register(reader.close)
    return reader


def _call(name: str, *arguments: object) -> bytes:
    body = pickle.dumps((MODULE, name, arguments))  # to the child only; nothing pickled comes back
    return REQUEST.pack(len(body), CPU, MEMORY, REPLY) + body


def _died(death: ChildDiedError) -> str:
    if death.limit in ("CPU time", "elapsed time"):
        return _TOO_LONG
    return f"reading the file ended the process that did it (signal {death.signal}): it is damaged or hostile"


def _checked(reply: Reply) -> float:
    if reply.kind == EXCEEDED:
        raise BadInput(_TOO_MUCH if reply.value == "memory" else "the file is nested too deeply")
    if reply.kind == RAISED:
        name, text = reply.value[0], " ".join(reply.value[1].split())
        if name in ("BadInput", "LimitExceeded"):
            raise BadInput(text)
        if "bad_alloc" in text or name.endswith("MemoryError"):
            raise BadInput(_TOO_MUCH)
        raise BadInput(f"the file cannot be read ({name}: {text[:200]})")
    return float(reply.value["cpu"])
