"""The trial of compose.yaml with real queues and a real object store: its configuration, commands and sample."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from switchyard.places import Places
from tests.deployment.deployment import BIN, Deployment
from tests.deployment.program import Program
from tests.parts.aws import AwsPart
from tests.parts.database import Database
from tests.parts.wheels import ROOT

FOLDER = "/var/lib/switchyard/region"
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


@pytest.fixture
def trial(
    database: Database, elasticmq: AwsPart, s3: AwsPart, region: Path, tmp_path: Path
) -> Iterator[Deployment]:
    """As configured, with the addresses of this test and no fixed ports."""
    text = (ROOT / "config" / "compose" / "switchyard.yaml").read_text()
    names = {
        "http://queues:9324": elasticmq.url,
        "nrf_impact_assessment_queue": elasticmq.queue().rpartition("/")[2],
        "nrf_impact_assessment_status": elasticmq.queue().rpartition("/")[2],
        "s3://switchyard/": f"s3://{s3.bucket()}/",
    }
    for name, ours in names.items():
        assert name in text
        text = text.replace(name, ours)
    environ = {
        **elasticmq.environ, **s3.environ, "PORT": "0", "SWITCHYARD_CONDUCTOR__HEALTH__PORT": "0",
        "SWITCHYARD_CABOOSE__HEALTH__PORT": "0", "SWITCHYARD_CONFIG": str(tmp_path / "switchyard.yaml"),
        "PATH": f"{BIN}:/usr/bin:/bin", "SWITCHYARD_BUNDLE": str(region / "bundle"), "SQS_WAIT_TIME_SECONDS": "1",
    }  # fmt: skip
    with closing(Deployment(database, tmp_path, yaml.safe_load(text), environ)) as made:
        yield made


def started(trial: Deployment, name: str) -> None:
    """The service's command, on this machine."""
    program, verb, *_ = SERVICES[name]["command"]
    trial.programs.append(
        Program(name, [BIN / program, verb, "-c", trial.file], env=trial.environ, logs_in=trial.folder)
    )
    trial.programs[-1].start()


def test_the_sample_of_the_trial_is_assessed(trial: Deployment, s3: AwsPart, region: Path) -> None:
    for name in ("conductor", "caboose", "assessment"):
        started(trial, name)
    shell, options, script = SERVICES["sample"]["command"]
    done = subprocess.run(
        [shell, options, script.replace("$$", "$").replace(FOLDER, str(region))],
        env=trial.environ, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [(action, status)] = trial.database.execute(
        "select action_uuid, status::text from switchyard.thread where action_name = 'assessment'"
    )
    assert status == "SUCCESSFUL"
    bucket, _, prefix = trial.config.store.removeprefix("s3://").partition("/")
    assert s3.s3().head_object(Bucket=bucket, Key=f"{prefix}/{Places(action, 1).output}")["ContentLength"]
