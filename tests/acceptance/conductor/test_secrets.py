"""Secrets of a spawned conductor reach the partner, and show in nothing that it or the command ever says.

The partner repeats everything that it received, as careless servers do in their errors.
"""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.deployment.deployment import Deployment
from tests.parts import leaks
from tests.waiting import until

TOKEN = 'tok"en/with+odd ü chars-91'
PARTNER = "partner-token-4711"
SIGNING = base64.b64encode(b"signing-key-that-nobody-may-see!").decode()
SECRETS = (TOKEN, PARTNER, SIGNING)


class Echo:
    """What it received, and a 400 with all of it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.port = 0


@contextmanager
def echoing() -> Iterator[Echo]:
    echo = Echo()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            echo.told.append(f"{self.path} {self.headers.as_string()} {body}")
            said = echo.told[-1].encode()
            self.send_response(400, "No")
            self.send_header("Content-Length", str(len(said)))
            self.send_header("X-Echo", self.path)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Not on the tests' screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    echo.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield echo
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def config(port: int) -> dict[str, Any]:
    webhook = {
        "type": "http",
        "allow_networks": ["127.0.0.0/8"],
        "request": {
            "url": f"http://127.0.0.1:{port}/hook/{{{{ secrets.partner }}}}?key={{{{ secrets.partner }}}}",
            "headers": {"X-Api-Key": "{{ secrets.partner }}"},
            "body": {"token": "{{ secrets.token }}", "text": "it is {{ secrets.token }}!"},
            "sign": {"secrets": ["env:SIGNING"]},
        },
    }
    return {
        "actions": {"webhook": webhook, "nowhere": webhook | {"allow_networks": []}},
        "secrets": {"partner": "env:PARTNER", "token": "env:TOKEN"},
        "log": {"level": "debug"},
    }


def test_no_log_event_archive_metric_or_command_shows_one(deployment: Deployment, tmp_path: Path) -> None:
    deployment.environ.update(TOKEN=TOKEN, PARTNER=PARTNER, SIGNING=SIGNING)
    with echoing() as echo:
        member = deployment.add_conductor(config(echo.port))
        deployment.registered(2)
        uuids = [*deployment.ledger.insert("webhook"), *deployment.ledger.insert("nowhere")]
        until(lambda: deployment.ledger.open() == 0)
        member.health()
        metrics = member.get("/metrics")[1]
        shown = [
            deployment.run("switchyard", *words, "-c", deployment.file)
            for words in (
                ["show", str(uuids[0])],
                ["events", str(uuids[0]), "--json"],
                ["inbox"],
                ["workers"],
            )
        ]
        assert member.stop() == 0
    [told] = echo.told
    assert PARTNER in told, "the partner gets the secret"
    assert leaks.leak([PARTNER], [("", told)]) is not None, "the search finds it"
    assert leaks.leak([TOKEN], [("", told)]) is not None
    assert [one.returncode for one in shown] == [0] * 4, [one.stderr for one in shown]
    assert "answered 400" in shown[0].stdout
    texts = [("/metrics", metrics), *((str(one.args), one.stdout + one.stderr) for one in shown)]
    texts += [*leaks.files(tmp_path), *leaks.ledger(deployment.database)]
    assert len(list((tmp_path / "store").rglob("*.jsonl"))) == 2, "both transcripts are among them"
    assert leaks.leak(SECRETS, texts) is None
