"""The OpenAPI document."""

import json
from pathlib import Path

from openapi_spec_validator import validate

import signalbox.app  # noqa: F401 - declares the endpoints
from signalbox.endpoint import ENDPOINTS
from signalbox.openapi import document

COMMITTED = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_it_is_valid_openapi_3_0() -> None:
    found = document()
    assert found["openapi"].startswith("3.0.")
    validate(found)


def test_every_route_is_in_it_under_a_name_of_its_own() -> None:
    operations = [(each, method) for path in document()["paths"].values() for method, each in path.items()]
    assert len(operations) == len(ENDPOINTS)
    assert len({each["operationId"] for each, _ in operations}) == len(operations)
    assert all(each["summary"].endswith(".") for each, _ in operations)


def test_the_committed_document_is_current() -> None:
    assert json.loads(COMMITTED.read_text()) == document(), "run `make schema`"
