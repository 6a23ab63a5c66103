"""A proxy in front of several signalboxes: it names the caller, takes turns, and leaves out who does not answer."""

import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle

import httpx


class Balancer:
    """Listens on a port of its own until it is closed; `sent` counts the requests by the port that answered."""

    def __init__(self, ports: Sequence[int], user: str, groups: str) -> None:
        self.sent = dict.fromkeys(ports, 0)
        turns, balancer = cycle(ports), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                own = {"X-Forwarded-User": user, "X-Forwarded-Groups": groups}
                headers = {**self.headers, **own}
                for port in (next(turns) for _ in ports):
                    try:
                        answer = httpx.request(
                            self.command, f"http://127.0.0.1:{port}{self.path}", content=body, headers=headers
                        )
                    except httpx.TransportError:
                        continue
                    balancer.sent[port] += 1
                    self.send_response(answer.status_code)
                    for name in ("content-type", "location"):
                        if name in answer.headers:
                            self.send_header(name, answer.headers[name])
                    self.send_header("Content-Length", str(len(answer.content)))
                    self.end_headers()
                    self.wfile.write(answer.content)
                    return
                self.send_error(502)

            def do_GET(self) -> None:
                self.pass_on()

            def do_POST(self) -> None:
                self.pass_on()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
