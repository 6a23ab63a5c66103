"""Items are created, updated where they exist, and published again without harm."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from switchyard.backends.stac.handler import StacHandler
from switchyard.backends.stac.model import StacAction
from switchyard.handlers import Failed, Invalid, Retry, Success
from tests.integration.backends.http.making import context, kept, work

FEATURE = {
    "type": "Feature",
    "id": "site 1",
    "geometry": {"type": "Point", "coordinates": [1, 52]},
    "properties": {},
}


class StacApi:
    """The Transaction extension of a STAC API, in memory: fails as a real one (test_real_api.py) cannot be asked to."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], Any] = {}
        self.asked: list[tuple[str, str]] = []
        self.authorizations: set[str | None] = set()
        self.broken: int | None = None
        self.forgets = False
        self.url = ""

    def _note(self, request: web.Request) -> None:
        self.asked.append((request.method, request.raw_path))
        self.authorizations.add(request.headers.get("Authorization"))
        if self.broken is not None:
            raise (
                web.HTTPServiceUnavailable if self.broken == 503 else web.HTTPBadRequest(text="no such field")
            )

    async def create(self, request: web.Request) -> web.Response:
        self._note(request)
        item = await request.json()
        key = (request.match_info["collection"], item["id"])
        if key[0] != "sites":
            raise web.HTTPNotFound
        if key in self.items:
            raise web.HTTPConflict(text=json.dumps({"code": "ConflictError"}))
        self.items[key] = item
        return web.json_response(item, status=201)

    async def update(self, request: web.Request) -> web.Response:
        self._note(request)
        key = (request.match_info["collection"], request.match_info["item"])
        if self.forgets or key not in self.items:
            raise web.HTTPNotFound
        self.items[key] = await request.json()
        return web.json_response(self.items[key])


@asynccontextmanager
async def running() -> AsyncIterator[StacApi]:
    api = StacApi()
    app = web.Application()
    app.router.add_post("/api/collections/{collection}/items", api.create)
    app.router.add_put("/api/collections/{collection}/items/{item}", api.update)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    api.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api"
    try:
        yield api
    finally:
        await runner.cleanup()


@asynccontextmanager
async def publishing(api: StacApi, folder: Path, **settings: Any) -> AsyncIterator[StacHandler]:
    written = {"url": api.url, "collection": "sites", "allow_networks": ["127.0.0.0/8"], **settings}
    made = StacHandler("stac", StacAction.model_validate(written), context(folder))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def test_created_then_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAC_TOKEN", "stac-token-value")
    async with running() as api, publishing(api, tmp_path, auth={"bearer": "env:STAC_TOKEN"}) as made:
        first = await made.dispatch(work({"item": FEATURE}))
        second = await made.dispatch(work({"item": {**FEATURE, "properties": {"n_total": 3}}}))
    assert isinstance(first, Success)
    assert isinstance(second, Success)
    items = "/api/collections/sites/items"
    assert api.asked == [("POST", items), ("POST", items), ("PUT", f"{items}/site%201")]
    assert api.items["sites", "site 1"]["properties"]["n_total"] == 3
    assert api.authorizations == {"Bearer stac-token-value"}
    record = kept(tmp_path, second)
    assert (record["request"]["method"], record["response"]["status"]) == ("PUT", 200)
    assert record["request"]["headers"]["authorization"] == "[redacted]"


async def test_a_collection_that_is_not_there_has_failed(tmp_path: Path) -> None:
    async with running() as api, publishing(api, tmp_path, collection="{{ parameters.to }}") as made:
        outcome = await made.dispatch(work({"item": FEATURE, "to": "nowhere"}))
        escaped = await made.dispatch(work({"item": FEATURE, "to": "../../admin"}))
    assert isinstance(outcome, Failed)
    assert outcome.detail["status"] == 404
    assert isinstance(escaped, Invalid)
    assert len(api.asked) == 1


async def test_an_item_that_vanished_before_the_update_is_tried_again(tmp_path: Path) -> None:
    async with running() as api, publishing(api, tmp_path) as made:
        await made.dispatch(work({"item": FEATURE}))
        api.forgets = True
        assert isinstance(await made.dispatch(work({"item": FEATURE})), Retry)


@pytest.mark.parametrize(("status", "kind"), [(503, Retry), (400, Failed)])
async def test_a_server_in_trouble(status: int, kind: type[Any], tmp_path: Path) -> None:
    async with running() as api, publishing(api, tmp_path) as made:
        api.broken = status
        outcome = await made.dispatch(work({"item": FEATURE}))
    assert isinstance(outcome, kind)
    assert outcome.detail["status"] == status
    assert len(api.asked) == 1


async def test_bad_features_and_private_addresses_are_sent_nowhere(tmp_path: Path) -> None:
    async with running() as api:
        async with publishing(api, tmp_path) as made:
            nothing = await made.dispatch(work({}))
            infinite = await made.dispatch(work({"item": {**FEATURE, "properties": {"n": float("inf")}}}))
        async with publishing(api, tmp_path, allow_networks=[]) as made:
            private = await made.dispatch(work({"item": FEATURE}))
    assert isinstance(nothing, Invalid)
    assert isinstance(infinite, Invalid)
    assert isinstance(private, Invalid)
    assert "loopback" in private.error
    assert not api.asked
