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
    [(0, KEY, 204), (0, b"another", 401), (301, KEY, 401), (-360, KEY, 401), (None, KEY, 401)],
)
async def test_a_delivery(tmp_path: Path, age: int | None, key: bytes, status: int) -> None:
    at = "soon" if age is None else str(int(time.time()) - age)
    assert await answered(tmp_path, signed(at, key)) == status
    assert (tmp_path / "m-1.json").exists() == (status == 204)


@pytest.mark.parametrize("signature", ["v1,ü", "ü", "v1,\udcff"])
async def test_security_l5_a_signature_that_is_not_ascii(tmp_path: Path, signature: str) -> None:
    headers = {**signed(str(int(time.time())), KEY), "webhook-signature": signature}
    assert await answered(tmp_path, headers) == 401


@pytest.mark.parametrize("at", ["²", "9" * 5000, "-1", "1e9"])
async def test_security_l5_a_time_that_is_not_a_number(tmp_path: Path, at: str) -> None:
    assert await answered(tmp_path, signed(at, KEY)) == 401


@pytest.mark.parametrize("body", [b"not JSON", b"[" * 100_000, b"\xff"])
async def test_security_l5_a_signed_body_that_is_not_json(tmp_path: Path, body: bytes) -> None:
    assert await answered(tmp_path, signed(str(int(time.time())), KEY, body), body) == 400
    assert not (tmp_path / "m-1.json").exists()


def signed(at: str, key: bytes, body: bytes = b"{}") -> dict[str, str]:
    digest = hmac.new(key, f"m-1.{at}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,x v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "m-1", "webhook-timestamp": at, "webhook-signature": signature}


async def answered(folder: Path, headers: dict[str, str], body: bytes = b"{}") -> int:
    app = web.Application()
    app.router.add_post("/hook", Receiver(folder, f"whsec_{base64.b64encode(KEY).decode()}").take)
    async with TestClient(TestServer(app)) as client:
        answer = await client.post("/hook", data=body, headers=headers)
        return answer.status
