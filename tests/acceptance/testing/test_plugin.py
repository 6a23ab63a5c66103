"""The pytest plugin, in a project of its own in a temporary folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.postgres import Postgres

CONFIG = """
database: {url: env:NOT_SET_ANYWHERE}
store: file:///nowhere/at/all
actions:
  hook: {type: http, request: {url: "{{ parameters.url }}"}, retry: {attempts: 3, base: 10m, max: 10m},
    allow_networks: [127.0.0.0/8]}
  nothing: {type: noop}
"""
PROJECT = '''
"""Tests as a user would write them."""

import asyncio

import psycopg
import pytest

from switchyard.errors import BadInput
from switchyard.handlers import Failed, Success, Work
from switchyard.testing import dispatched, make_work


class Shout:
    """A handler of the project."""

    async def start(self) -> None:
        self.started = True

    async def dispatch(self, work: Work) -> Success | Failed:
        assert self.started
        return Success({"said": work.parameters["word"].upper()}) if work.parameters else Failed("no word")

    async def close(self) -> None:
        self.started = False


def test_a_handler_without_a_database():
    handler = Shout()
    assert asyncio.run(dispatched(handler, make_work({"word": "hi"}))) == Success({"said": "HI"})
    assert asyncio.run(dispatched(handler, make_work())) == Failed("no word")
    assert not handler.started


def test_one_action_and_no_other(yard):
    first, second = yard.submit("nothing"), yard.submit("nothing")
    assert yard.run(second).status == "SUCCESSFUL"
    assert yard.status(first).status == "PENDING"
    assert yard.why(first)


def test_all_that_is_due_and_what_waits_for_it(yard):
    first = yard.submit("nothing")
    last = yard.submit("nothing", after=[first])
    assert yard.drain() == {"SUCCESSFUL": 2}
    assert yard.status(last).status == "SUCCESSFUL"
    assert yard.drain() == {}


def test_what_is_not_due_is_left_alone(yard):
    action = yard.submit("hook", {"url": "http://127.0.0.1:9/"})
    assert yard.drain() == {"BACKOFF": 1}
    assert yard.drain() == {}
    assert yard.run(action).attempt == 1


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_has_a_database_of_its_own(yard, switchyard_url, number):
    with psycopg.connect(switchyard_url) as connection:
        [count] = connection.execute("select count(*) from switchyard.action").fetchone()
    assert count == 0
    yard.submit("nothing", idempotency_key="the same")


def test_submissions_are_checked_against_the_configuration(yard):
    with pytest.raises(BadInput, match="nothin"):
        yard.submit("nothin")


class TestWithAnotherConfiguration:
    @pytest.fixture
    def switchyard_config(self):
        return {"actions": {"mine": {"type": "noop"}}}

    def test_a_mapping_will_do(self, yard):
        assert yard.run(yard.submit("mine")).status == "SUCCESSFUL"


async def _in_a_loop(yard):
    return yard.run(yard.submit("nothing")).status


def test_within_an_event_loop(yard):
    assert asyncio.run(_in_a_loop(yard)) == "SUCCESSFUL"
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "switchyard.yaml").write_text(CONFIG)
    (folder / "test_project.py").write_text(PROJECT)
    (folder / "pytest.ini").write_text("[pytest]\nswitchyard_config = switchyard.yaml\n")
    return folder


def run_tests(folder: Path, *options: str) -> str:
    """pytest as the project would run it: nothing of our tests is imported."""
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-p",
        "no:asyncio",
    ]
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SWITCHYARD"))
    }
    done = subprocess.run(
        [*argv, *options], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_on_an_embedded_server(project: Path) -> None:
    assert "9 passed" in run_tests(project)


def test_on_a_server_that_is_there_and_nothing_stays_there(project: Path, postgres: Postgres) -> None:
    import psycopg

    output = run_tests(project, "--switchyard-server", postgres.url(), "-k", "database_of_its_own")
    assert "2 passed" in output
    with psycopg.connect(postgres.url()) as connection:
        left = connection.execute(r"select datname from pg_database where datname like 'switchyard\_test%'")
        assert left.fetchall() == []


def test_the_fixtures_are_listed_with_what_they_are(project: Path) -> None:
    listed = run_tests(project, "--fixtures")
    for name in ("yard", "switchyard_url", "switchyard_config", "switchyard_server"):
        assert f"\n{name}" in listed
