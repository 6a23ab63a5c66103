"""The stac handler against stac-fastapi on pgstac: create, update, conflict, and the answers of its own kind."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.stac.handler import StacHandler
from switchyard.backends.stac.model import StacAction
from switchyard.config.load import load
from switchyard.handlers import Failed, Invalid, Retry, Success
from tests.integration.backends.http.making import context, kept, work
from tests.integration.caboose.world import World, build
from tests.parts.database import Database
from tests.parts.stac import StacApi

SAMPLE = Path(__file__).parents[4] / "config" / "switchyard.yaml"
POINT = {"type": "Point", "coordinates": [1, 52]}
FEATURE = {"type": "Feature", "id": "site 1", "geometry": POINT, "properties": {}}


@asynccontextmanager
async def publishing(api: StacApi, folder: Path, **settings: Any) -> AsyncIterator[StacHandler]:
    written = {"url": api.url, "allow_networks": ["127.0.0.0/8"], "timeout": "60s", **settings}
    made = StacHandler("stac", StacAction.model_validate(written), context(folder))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def test_an_item_is_created_first_and_updated_second(stac: StacApi, tmp_path: Path) -> None:
    collection = stac.collection()
    async with publishing(stac, tmp_path, collection=collection) as made:
        first = await made.dispatch(work({"item": FEATURE}))
        second = await made.dispatch(work({"item": {**FEATURE, "properties": {"n_total": 3}}}))
    assert isinstance(first, Success)
    assert isinstance(second, Success)
    records = [kept(tmp_path, outcome) for outcome in (first, second)]
    assert [record["request"]["method"] for record in records] == ["POST", "PUT"]
    [(identity, item)] = stac.items(collection).items()
    assert (identity, item["properties"]["n_total"]) == ("site 1", 3)
    assert item["bbox"] == [1.0, 52.0, 1.0, 52.0]


async def test_the_same_action_again_changes_nothing(stac: StacApi, tmp_path: Path) -> None:
    collection = stac.collection()
    asked = work({"item": {"type": "Feature", "geometry": POINT, "properties": None}})
    async with publishing(stac, tmp_path, collection=collection) as made:
        assert isinstance(await made.dispatch(asked), Success)
        before = stac.items(collection)
        assert isinstance(await made.dispatch(asked), Success)
    assert list(before) == [str(asked.uuid)]
    assert stac.items(collection) == before


@pytest.mark.parametrize("identity", ["é ü%2F", "…", "a.b_c-d~e"])
async def test_an_id_with_odd_letters_finds_its_item_again(
    identity: str, stac: StacApi, tmp_path: Path
) -> None:
    collection = stac.collection()
    async with publishing(stac, tmp_path, collection=collection) as made:
        for number in (1, 2):
            asked = work({"item": {**FEATURE, "id": identity, "properties": {"n": number}}})
            assert isinstance(await made.dispatch(asked), Success)
    assert {key: item["properties"]["n"] for key, item in stac.items(collection).items()} == {identity: 2}


async def test_a_collection_that_is_not_there_is_not_tried_again(stac: StacApi, tmp_path: Path) -> None:
    """pgstac answers the create with 500, which alone would be a reason to try again."""
    async with publishing(stac, tmp_path, collection="nowhere") as made:
        outcome = await made.dispatch(work({"item": FEATURE}))
    assert isinstance(outcome, Failed)
    assert outcome.detail["status"] == 404
    assert "nowhere" in outcome.error
    record = kept(tmp_path, outcome)
    assert (record["request"]["method"], record["response"]["status"]) == ("GET", 404)


async def test_an_error_of_the_api_in_a_collection_that_is_there_is_tried_again(
    stac: StacApi, tmp_path: Path
) -> None:
    """Text that Postgres cannot store is answered with the same 500."""
    collection = stac.collection()
    async with publishing(stac, tmp_path, collection=collection) as made:
        outcome = await made.dispatch(work({"item": {**FEATURE, "properties": {"text": "a\0b"}}}))
    assert isinstance(outcome, Retry)
    assert outcome.detail["status"] == 500


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": "24:0012"}, "cannot contain the following characters"),
        ({"id": "site(1)"}, "cannot contain the following characters"),
        ({"geometry": None}, "Geometry is required"),
        ({"geometry": {"type": "Polygon", "coordinates": [[[1, 1], [2, 2]]]}}, "at least 4 items"),
    ],
)
async def test_an_item_that_the_api_refuses_has_failed_with_its_reason(
    changes: dict[str, Any], reason: str, stac: StacApi, tmp_path: Path
) -> None:
    collection = stac.collection()
    async with publishing(stac, tmp_path, collection=collection) as made:
        outcome = await made.dispatch(work({"item": {**FEATURE, **changes}}))
    assert isinstance(outcome, Failed)
    assert outcome.detail["status"] == 400
    assert reason in str(kept(tmp_path, outcome)["response"])
    assert stac.items(collection) == {}


async def test_an_id_that_would_lead_elsewhere_is_not_sent(stac: StacApi, tmp_path: Path) -> None:
    async with publishing(stac, tmp_path, collection=stac.collection()) as made:
        assert isinstance(await made.dispatch(work({"item": {**FEATURE, "id": "24/0012/FUL"}})), Invalid)


def _site(number: int, total: float) -> dict[str, Any]:
    """A feature as `assessment run` writes it."""
    known = {"rlb_id": number, "id": f"24/00{number}/FUL", "n_total": total}
    return {"type": "Feature", "geometry": POINT, "properties": known}


async def _published(
    world: World, stac: StacApi, collection: str, uuid: UUID, tmp_path: Path
) -> list[type[Any]]:
    """Run the publish callbacks of an end with the sample's own action; what each came to."""
    action = load(SAMPLE).actions["stac"]
    assert isinstance(action, StacAction)
    templates = {"item_id": action.item_id, "datetime": action.datetime}
    async with publishing(stac, tmp_path, collection=collection, **templates) as made:
        return [
            type(await made.dispatch(work(parameters, callback="publish", parent_uuid=uuid)))
            for _, name, _, parameters, _ in world.children(uuid)
            if name == "stac"
        ]


async def test_the_sample_configuration_publishes_what_an_assessment_found(
    database: Database, stac: StacApi, tmp_path: Path
) -> None:
    [publish] = [each for each in load(SAMPLE).workflows["nutrient"].callbacks if each.name == "publish"]
    written = publish.model_dump(mode="json", by_alias=True, exclude_unset=True)
    world = await build(database, tmp_path, {"flow": {"action": "run", "callbacks": [written]}})
    collection = stac.collection()
    try:
        uuid = world.queued(world.submit())
        world.exited(uuid, output={"features": [_site(12, 4.5), _site(13, 0.0), _site(14, 1.25)]})
        await world.tell()
        assert await _published(world, stac, collection, uuid, tmp_path) == [Success, Success]
        again = await _published(world, stac, collection, uuid, tmp_path)  # as a second run does
    finally:
        await world.close()
    assert again == [Success, Success]
    found = {key: item["properties"]["n_total"] for key, item in stac.items(collection).items()}
    assert found == {f"{uuid}-12": 4.5, f"{uuid}-14": 1.25}
