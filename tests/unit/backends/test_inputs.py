"""Inputs of a node that are outputs of others: taken from the run that the release named, by path."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.handlers import Failed, Invalid, Outcome
from switchyard.places import Places
from switchyard.store import open_store
from tests.integration.conductor.workflows import context, work

FETCH = uuid4()


async def prepared(
    folder: Path, inputs: dict[str, Any], outputs: dict[int, bytes]
) -> PreparedWorkflow | Outcome:
    made = context(folder, {"run": {"type": "local"}}, {"flow": {"action": "run", "template": "true"}})
    for run, output in outputs.items():
        made.store.put(Places(FETCH, run).output, output)
    return await prepare(work("flow", {"edition": 3, "$inputs": inputs}), made, Threads(2))


def source(path: str, run: int = 2, action: UUID = FETCH, **more: Any) -> dict[str, Any]:
    return {"from": str(action), "run": run, "path": path, **more}


async def test_inputs_are_the_outputs_of_the_named_run(tmp_path: Path) -> None:
    inputs = {
        "scene": source("$.output.scene"),
        "ids": source("$.output.items[*].id"),
        "cloud": source("$.output.cloud", default=0.5),
        "edition": source("$.output.edition", run=1),
    }
    outputs = {1: b'{"edition": 4}', 2: b'{"scene": {"id": "S2A"}, "items": [{"id": 1}, {"id": 2}]}'}
    found = await prepared(tmp_path, inputs, outputs)
    assert isinstance(found, PreparedWorkflow)
    assert found.parameters == {"scene": {"id": "S2A"}, "ids": [1, 2], "cloud": 0.5, "edition": 4}
    written = open_store((tmp_path / "store").as_uri()).get(found.places.input)
    assert json.loads(written) == found.parameters


@pytest.mark.parametrize(
    ("inputs", "output", "kind", "error"),
    [
        ({"x": source("$.output.scene")}, b"{}", Invalid, "finds nothing, and there is no default"),
        ({"x": source("$.output[")}, b"{}", Invalid, "input x: "),
        ({"x": source("$.output")}, b"{", Invalid, ""),
        ({"x": source("$.output", run=3)}, b"{}", Failed, "could not be stored"),
    ],
)
async def test_an_input_that_cannot_be_read_ends_the_node_with_the_reason(
    tmp_path: Path, inputs: dict[str, Any], output: bytes, kind: type[Invalid | Failed], error: str
) -> None:
    found = await prepared(tmp_path, inputs, {2: output})
    assert isinstance(found, kind)
    assert error in found.error
