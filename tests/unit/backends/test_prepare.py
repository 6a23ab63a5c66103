"""Inputs are checked before anything is submitted, at a cost that no submitter can raise for others."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.backends import carry_over as carry_over_module
from switchyard.backends import prepare as module
from switchyard.backends.carry_over import carry_over
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.errors import PoolUnavailable, StoreBadKey, StoreError, StoreUnavailable
from switchyard.handlers import Failed, Invalid, Outcome, Retry
from switchyard.places import Places
from switchyard.store import open_store
from tests.integration.conductor.workflows import context, work

UNIQUE = {"properties": {"items": {"uniqueItems": True}}}
PATTERN = {"properties": {"mail": {"pattern": r"^([a-zA-Z0-9]+[._-]?)+@example\.org$"}}}
PLAIN = {"required": ["n"], "properties": {"n": {"type": "integer"}}}


async def prepared(folder: Path, schema: Any, parameters: Any) -> PreparedWorkflow | Outcome:
    flows = {"flow": {"action": "run", "input_schema": schema, "template": "true"}}
    made = context(folder, {"run": {"type": "local"}}, flows)
    return await prepare(work("flow", parameters), made, Threads(2))


@pytest.mark.parametrize(
    ("schema", "parameters"),
    [
        (UNIQUE, {"items": [{"n": number} for number in range(12_000)]}),
        (PATTERN, {"mail": "a" * 35}),
    ],
    ids=["uniqueItems", "pattern"],
)
async def test_security_h4_a_costly_check_is_invalid_and_blocks_no_other(
    tmp_path: Path, schema: Any, parameters: Any
) -> None:
    """The event loop goes on ticking while the check exceeds its limit."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    ticking = asyncio.create_task(tick())
    outcome = await prepared(tmp_path, schema, parameters)
    ticking.cancel()
    assert isinstance(outcome, Invalid)
    assert "exceeded" in outcome.error or "limit" in outcome.error
    assert longest < 1.0


async def test_a_small_input_and_a_plain_schema_are_checked_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "shared_pool", lambda: pytest.fail("no other process is needed"))
    assert isinstance(await prepared(tmp_path, PLAIN, {"n": 1}), PreparedWorkflow)
    refused = await prepared(tmp_path, PLAIN, {"n": "x"})
    assert refused == Invalid("the input does not fit flow's schema: n: 'x' is not of type 'integer'")


async def test_the_pool_finds_the_same_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SMALL", 0)
    assert isinstance(await prepared(tmp_path, PLAIN, {"n": 1}), PreparedWorkflow)
    refused = await prepared(tmp_path, PLAIN, {"n": "x"})
    assert refused == Invalid("the input does not fit flow's schema: n: 'x' is not of type 'integer'")


async def test_a_pool_that_is_full_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> Any:
        raise PoolUnavailable("too many evaluations")

    monkeypatch.setattr(module, "shared_pool", full)
    outcome = await prepared(tmp_path, UNIQUE, {})
    assert isinstance(outcome, Retry)
    assert not outcome.sent


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StoreError("Read-only file system"), Retry),
        (StoreUnavailable("no answer"), Retry),
        (StoreBadKey("such a key"), Failed),
    ],
)
async def test_newuser_24_a_store_that_is_read_only_is_waited_for(
    tmp_path: Path, error: StoreError, kind: type[Outcome]
) -> None:
    made = context(tmp_path, {"run": {"type": "local"}}, {"flow": {"action": "run", "template": "true"}})

    def refuses(*_: Any) -> bool:
        raise error

    made.store.put = refuses
    assert type(await prepare(work("flow"), made, Threads(2))) is kind


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_run_that_resumes_has_the_checkpoints_of_the_run_before(
    tmp_path: Path, *, resumes: bool
) -> None:
    made = context(tmp_path, {"run": {"type": "local"}}, {"flow": {"action": "run", "template": "true"}})
    asked = replace(work("flow", {}), run=2, resumes=resumes)
    before, now = Places(asked.uuid, 1).folder, Places(asked.uuid, 2).folder
    for name in ("checkpoint/1.json", "output.json", "cancel"):
        made.store.put(f"{before}/{name}", name.encode())
    assert isinstance(await prepare(asked, made, Threads(2)), PreparedWorkflow)
    found = [key.removeprefix(f"{now}/") for key in made.store.list(f"{now}/")]
    assert found == (["checkpoint/1.json", "input.json"] if resumes else ["input.json"])


async def test_too_many_checkpoints_are_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carry_over_module, "MOST_BYTES", 3)
    made = context(tmp_path, {"run": {"type": "local"}}, {"flow": {"action": "run", "template": "true"}})
    asked = replace(work("flow", {}), run=2, resumes=True)
    made.store.put(f"{Places(asked.uuid, 1).folder}/checkpoint/1.json", b"four")
    assert isinstance(await prepare(asked, made, Threads(2)), PreparedWorkflow)
    assert list(made.store.list(f"{Places(asked.uuid, 2).folder}/checkpoint/")) == []


def test_an_interrupted_copy_is_continued(tmp_path: Path) -> None:
    store, uuid = open_store(tmp_path.as_uri()), work("flow", {}).uuid
    before, now = Places(uuid, 1), Places(uuid, 2)
    for name in ("a.bin", "deep/b.bin", "workflow.json", "log.txt"):
        store.put(f"{before.folder}/{name}", b"old")
    store.put(f"{now.folder}/a.bin", b"copied, then changed by the run")
    assert carry_over(store, now, everything=True) == 2
    assert store.get(f"{now.folder}/a.bin") == b"copied, then changed by the run"
    assert store.get(f"{now.folder}/deep/b.bin") == b"old"
    assert store.size(f"{now.folder}/workflow.json") is None
