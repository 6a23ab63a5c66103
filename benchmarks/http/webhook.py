"""The webhook that is measured: what a deployment would configure, and the same request made by hand."""

import base64
import hmac
import json
import time
from typing import Any
from uuid import uuid4

PARTNER = "a-partner-token"
KEY = bytes(range(32))
ENVIRONMENT = {"BENCH_PARTNER": PARTNER, "BENCH_SECRET": "whsec_" + base64.b64encode(KEY).decode()}
CORRELATION = "bench"
PARAMETERS: dict[str, Any] = {
    "total": 12.5,
    "status": "SUCCESSFUL",
    "items": list(range(20)),
    "note": "x" * 300,
}


def action(url: str, in_flight: int) -> dict[str, Any]:
    """As it would be in the configuration, without its `type`."""
    return {
        "concurrency": in_flight,
        "allow_networks": ["127.0.0.0/8"],
        "request": {
            "url": url,
            "headers": {"Authorization": "Bearer {{ secrets.partner }}"},
            "body": {
                "id": "{{ action.uuid }}",
                "status": "{{ parameters.status }}",
                "data": "{{ parameters }}",
            },
            "sign": {"secrets": ["env:BENCH_SECRET"]},
        },
    }


def by_hand() -> tuple[bytes, dict[str, str]]:
    """The body and the headers of one, signed: what the loop beside it has to make as well."""
    uuid, now = str(uuid4()), str(int(time.time()))
    document = {"id": uuid, "status": PARAMETERS["status"], "data": PARAMETERS}
    body = json.dumps(document, separators=(",", ":")).encode()
    signed = hmac.digest(KEY, f"{uuid}.{now}.".encode() + body, "sha256")
    return body, {
        "Authorization": f"Bearer {PARTNER}",
        "Content-Type": "application/json",
        "x-cdp-request-id": CORRELATION,
        "webhook-id": uuid,
        "webhook-timestamp": now,
        "webhook-signature": "v1," + base64.b64encode(signed).decode(),
    }
