"""The local handler: prepares, starts once, survives its own death at any step."""

import json
from pathlib import Path
from typing import Any

import pytest

from switchyard.backends.local.handler import LocalHandler
from switchyard.backends.local.launch import Launched
from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.spool import folder, record
from switchyard.backends.local.spool.owner import OWNER
from switchyard.backends.local.spool.state import Life
from switchyard.errors import ConfigError
from switchyard.handlers import HandedOver, Invalid, Retry
from switchyard.places import Places
from tests.integration.backends.local.conftest import ended
from tests.integration.conductor.workflows import context, work

FLOWS: dict[str, Any] = {
    "shell": {
        "action": "run",
        "template": [
            "sh",
            "-c",
            "printf x >> $0; echo ${#TOKEN} > $0.size; env | grep -v ^PWD= | sort",
            "COUNT",
        ],
    },
    "picky": {"action": "run", "template": "true", "input_schema": {"required": ["n"]}},
    "bare": {"action": "run"},
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[LocalHandler, Path]:
    monkeypatch.setenv("TOKEN_OF_THE_TEST", "hush-hush")
    monkeypatch.setenv("NOT_PASSED_ON", "private")
    count = str(tmp_path / "count")
    flows = {**FLOWS, "shell": {"action": "run", "template": [*FLOWS["shell"]["template"][:3], count]}}
    action: dict[str, Any] = {
        "type": "local",
        "spool": str(tmp_path / "spool"),
        "env": {"PATH": "/usr/bin:/bin", "TOKEN": "env:TOKEN_OF_THE_TEST"},
    }
    surroundings = context(tmp_path, {"run": action}, flows)
    made = surroundings.config.actions["run"]
    assert isinstance(made, LocalAction)
    return LocalHandler("run", made, surroundings), tmp_path


async def test_a_process_gets_its_input_its_places_and_nothing_else(made: tuple[LocalHandler, Path]) -> None:
    handler, tmp_path = made
    await handler.start()
    job = work("shell", {"n": 1}, run=2)
    outcome = await handler.dispatch(job)
    assert isinstance(outcome, HandedOver)
    path = tmp_path / "spool" / f"{job.uuid}-r2"
    assert ended(path).life is Life.EXITED
    store = (tmp_path / "store").as_uri()
    said = (path / record.STDOUT).read_text().splitlines()
    assert [line for line in said if not line.startswith(("_=", "SHLVL=", "OLDPWD="))] == [
        "PATH=/usr/bin:/bin",
        f"SWITCHYARD_ACTION_UUID={job.uuid}",
        "SWITCHYARD_CORRELATION_ID=c-1",
        f"SWITCHYARD_INPUT={store}/executions/{job.uuid}/r2/input.json",
        f"SWITCHYARD_OUTPUT={store}/executions/{job.uuid}/r2",
        "SWITCHYARD_RUN=2",
        "TOKEN=[redacted]",
    ]
    assert int((tmp_path / "count.size").read_text()) == len("hush-hush"), "the process itself has it"
    assert json.loads((tmp_path / "store" / Places(job.uuid, 2).input).read_bytes()) == {"n": 1}
    kept = [file for file in path.rglob("*") if file.is_file()]
    assert not any(b"hush-hush" in file.read_bytes() for file in kept), "the secret touches no disk of ours"


async def test_every_attempt_of_a_run_is_one_process(made: tuple[LocalHandler, Path]) -> None:
    handler, tmp_path = made
    await handler.start()
    job = work("shell")
    for _ in range(3):
        assert isinstance(await handler.dispatch(job), HandedOver)
    ended(tmp_path / "spool" / job.name)
    assert isinstance(await handler.dispatch(job), HandedOver)
    assert (tmp_path / "count").read_text() == "x"


async def test_a_death_after_the_folder_was_made_is_made_good(made: tuple[LocalHandler, Path]) -> None:
    handler, tmp_path = made
    await handler.start()
    job = work("shell")
    path = folder.make(tmp_path / "spool", job.name)
    assert isinstance(await handler.dispatch(job), HandedOver)
    assert ended(path).life is Life.EXITED
    assert (tmp_path / "count").read_text() == "x"


async def test_what_can_never_run_is_invalid(made: tuple[LocalHandler, Path]) -> None:
    handler, _ = made
    await handler.start()
    for workflow, reason in {
        "picky": "'n' is a required",
        "bare": "no command",
        "lost": "no workflow",
    }.items():
        outcome = await handler.dispatch(work(workflow))
        assert isinstance(outcome, Invalid)
        assert reason in outcome.error


async def test_a_supervisor_that_cannot_start_is_tried_again(
    made: tuple[LocalHandler, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, tmp_path = made
    await handler.start()

    async def broken(*_: Any) -> Launched:
        return Launched.BROKEN

    monkeypatch.setattr("switchyard.backends.local.handler.launch", broken)
    assert isinstance(await handler.dispatch(work("shell")), Retry)
    (tmp_path / "spool").rename(tmp_path / "elsewhere")
    outcome = await handler.dispatch(work("shell"))
    assert isinstance(outcome, Retry)
    assert not outcome.sent


async def test_a_spool_belongs_to_one_host(made: tuple[LocalHandler, Path]) -> None:
    handler, tmp_path = made
    await handler.start()
    mark = tmp_path / "spool" / OWNER
    first = mark.read_text()
    await handler.start()
    assert mark.read_text() == first
    mark.write_text(json.dumps({"id": "x", "host": "another"}))
    with pytest.raises(ConfigError, match="belongs to the host another"):
        await handler.start()


async def test_a_spool_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    surroundings = context(
        tmp_path, {"run": {"type": "local", "spool": str(tmp_path / "file" / "spool")}}, {}
    )
    action = surroundings.config.actions["run"]
    assert isinstance(action, LocalAction)
    with pytest.raises(ConfigError, match="cannot be used"):
        await LocalHandler("run", action, surroundings).start()
