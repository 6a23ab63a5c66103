"""The browser reports what the tests of pages rely on it to report."""

from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.parts.browser import Chromium
from tests.parts.need import obtain

PAGES = {
    "/": "<title>t</title><main><h1>Well</h1></main>",
    "/console": "<title>t</title><main><h1>Well</h1></main><script>console.error('broken')</script>",
    "/script": "<title>t</title><main><h1>Well</h1></main><script>missing()</script>",
    "/foreign": "<title>t</title><main><h1>Well</h1><img alt='' src='http://127.0.0.2:9/x.png'></main>",
    "/picture": "<title>t</title><main><h1>Well</h1><img src='data:,'></main>",
}


class Handler(BaseHTTPRequestHandler):
    """Answers with one of PAGES; /policy forbids the script that is on it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if self.path == "/policy":
            self.send_header("Content-Security-Policy", "default-src 'self'")
        self.end_headers()
        page = PAGES.get(self.path, PAGES["/console"])
        self.wfile.write(f"<!doctype html><html lang='en'>{page}</html>".encode())

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with closing(obtain("Chromium", Chromium)) as browser:
        yield browser


@pytest.fixture
def origin() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_good_page_has_no_problems(chromium: Chromium, origin: str) -> None:
    with chromium.sight(origin) as sight:
        sight.open("/")
        assert sight.violations() == []


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/console", "broken"),
        ("/script", "missing"),
        ("/foreign", "127.0.0.2"),
        ("/policy", "Content Security Policy"),
    ],
)
def test_a_problem_is_reported(chromium: Chromium, origin: str, path: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem), chromium.sight(origin) as sight:
        sight.open(path)


def test_what_shuts_people_out_is_reported(chromium: Chromium, origin: str) -> None:
    with chromium.sight(origin) as sight:
        sight.open("/picture")
        assert any(found.startswith("image-alt") for found in sight.violations())
