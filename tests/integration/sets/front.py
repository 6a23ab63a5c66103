"""A web server in front of a real STAC API that answers badly when it is told to."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Page = dict[str, Any]
Fault = Callable[["Answer"], None]


class Answer(BaseHTTPRequestHandler):
    """Forwards a request, and passes searches on to the fault of their turn."""

    server: "Front"

    def do_GET(self) -> None:
        self.respond(*self.forwarded(b""))

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers["content-length"]))
        self.server.searches += 1
        fault = self.server.faults.pop(self.server.searches, None)
        fault(self) if fault else self.respond(*self.forwarded(self.body))

    def page(self) -> Page:
        found: Page = json.loads(self.forwarded(self.body)[1])
        return found

    def forwarded(self, body: bytes) -> tuple[int, bytes]:
        self.server.tokens.append(self.headers["X-Token"])
        headers = {"Host": self.headers["host"], "Content-Type": "application/json"}
        request = urllib.request.Request(self.server.behind + self.path, body or None, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return 200, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def respond(self, status: int, body: bytes = b"{}", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Not on the screen."""


class Front(ThreadingHTTPServer):
    """The faults by the number of the search that they concern."""

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.behind = behind
        self.faults: dict[int, Fault] = {}
        self.searches = 0
        self.tokens: list[str | None] = []  # of each request
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def front(behind: str) -> Iterator[Front]:
    with Front(behind) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def status(code: int, **headers: str) -> Fault:
    """An error instead of the page."""
    return lambda answer: answer.respond(code, b"{}", **headers)


def changed(change: Callable[[Page], None]) -> Fault:
    """The page, changed."""

    def fault(answer: Answer) -> None:
        page = answer.page()
        change(page)
        answer.respond(200, json.dumps(page).encode())

    return fault


def next_link(page: Page) -> Page:
    found: Page = next(link for link in page["links"] if link["rel"] == "next")
    return found
