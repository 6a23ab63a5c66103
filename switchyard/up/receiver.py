"""A webhook receiver: checks signatures (Standard Webhooks) and stores what was delivered as files.

python -m switchyard.up.receiver --port 8000 --folder deliveries --secret webhook.secret
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import time
from pathlib import Path

from aiohttp import web

MOST_SKEW = 300
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class Receiver:
    """Answers 204 to what is signed, 401 to what is not; a delivery that comes twice is stored once."""

    def __init__(self, folder: Path, secret: str) -> None:
        self._folder = folder
        self._key = base64.b64decode(secret.removeprefix("whsec_"))

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        delivery = request.headers.get("webhook-id", "")
        if not self._signed(request, delivery, body):
            return web.json_response({"error": "the signature does not fit"}, status=401)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return web.json_response({"error": "the body is not JSON"}, status=400)
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower().startswith(("webhook-", "x-"))
        }
        self._keep(delivery, {"received_at": time.time(), "headers": headers, "body": document})
        return web.Response(status=204)

    def _signed(self, request: web.Request, delivery: str, body: bytes) -> bool:
        at = request.headers.get("webhook-timestamp", "")
        if not _TIMESTAMP.fullmatch(at) or abs(time.time() - int(at)) > MOST_SKEW:
            return False
        signed = f"{delivery}.{at}.".encode("utf-8", "surrogateescape") + body
        expected = b"v1," + base64.b64encode(hmac.new(self._key, signed, hashlib.sha256).digest())
        # As bytes: a header may hold anything, and compare_digest takes text of ASCII only.
        given = request.headers.get("webhook-signature", "").encode("utf-8", "surrogateescape").split(b" ")
        return any(hmac.compare_digest(expected, signature) for signature in given)

    def _keep(self, delivery: str, content: object) -> None:
        name = re.sub(r"[^A-Za-z0-9_-]", "", delivery)[:100]
        draft = self._folder / f".{name}.{os.getpid()}"
        draft.write_text(json.dumps(content, indent=2))
        draft.rename(self._folder / f"{name}.json")


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--secret", type=Path, required=True)
    chosen = parser.parse_args()
    receiver = Receiver(chosen.folder, chosen.secret.read_text().strip())
    app = web.Application(client_max_size=1024 * 1024)
    app.router.add_post("/hook", receiver.take)
    web.run_app(app, host="127.0.0.1", port=chosen.port, print=None, access_log=None)


if __name__ == "__main__":
    main()
