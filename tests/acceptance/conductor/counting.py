"""A server that counts what it is sent, by path, and answers when it is allowed to."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Counting:
    """Requests by path, with their times; `gate` holds back the answers, `status` chooses them."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.times: list[float] = []
        self.headers: list[dict[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.delay = 0.0
        self.status: Callable[[str], int] = lambda path: 200
        self.work: Callable[[str, socket.socket], None] = lambda path, sender: time.sleep(self.delay)
        self.port = 0
        self._guard = threading.Lock()

    def note(self, path: str, headers: Mapping[str, str]) -> None:
        with self._guard:
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.seen[path] += 1
            self.times.append(time.monotonic())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def counting() -> Iterator[Counting]:
    """A started one."""
    counts = Counting()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            counts.note(self.path, dict(self.headers))
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            counts.gate.wait(60)
            counts.work(self.path, self.connection)
            self.send_response(counts.status(self.path))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Not on the tests' screen."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: object, client_address: object) -> None:
            """A killed conductor is not an error here."""

    server = Server(("127.0.0.1", 0), Handler)
    counts.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield counts
    finally:
        counts.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
