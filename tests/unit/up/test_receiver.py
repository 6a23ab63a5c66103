"""The webhook receiver keeps only what is signed, and signed lately."""

import base64
import hashlib
import hmac
import time
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from switchyard.up.receiver import Receiver

KEY = b"k" * 24


@pytest.mark.parametrize(
    ("age", "key", "status"),
    [(0, KEY, 204), (0, b"another", 401), (301, KEY, 401), (-301, KEY, 401), (None, KEY, 401)],
)
async def test_a_delivery(tmp_path: Path, age: int | None, key: bytes, status: int) -> None:
    at = "soon" if age is None else str(int(time.time()) - age)
    told = hmac.new(key, f"m-1.{at}.{{}}".encode(), hashlib.sha256).digest()
    headers = {
        "webhook-id": "m-1", "webhook-timestamp": at, "webhook-signature": f"v1,x v1,{base64.b64encode(told).decode()}",
    }  # fmt: skip
    app = web.Application()
    app.router.add_post("/hook", Receiver(tmp_path, f"whsec_{base64.b64encode(KEY).decode()}").take)
    async with TestClient(TestServer(app)) as client:
        answer = await client.post("/hook", data=b"{}", headers=headers)
        assert answer.status == status
    assert (tmp_path / "m-1.json").exists() == (status == 204)
