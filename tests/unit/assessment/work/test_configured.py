"""The worker's settings from switchyard.yaml: its store, its log, its one sqs action; the environment comes first."""

import logging
from pathlib import Path

import pytest

from assessment.work.configured import settings_of
from assessment.work.settings import Settings
from switchyard.errors import ConfigError

pytestmark = pytest.mark.usefixtures("logging_as_before")

JOBS = "jobs: {type: sqs, queue: q-jobs, status_queue: q-status, endpoint: 'http://127.0.0.1:9324', region: eu-west-1}"


def configured(folder: Path, actions: str, more: str = "") -> Path:
    path = folder / "switchyard.yaml"
    path.write_text(f"store: file:///srv/store\nactions: {{{actions}}}\n{more}")
    return path


def test_one_sqs_action_says_which_queues(tmp_path: Path) -> None:
    made = settings_of(configured(tmp_path, JOBS), {})
    assert made == Settings(
        queue="q-jobs",
        status_queue="q-status",
        status_named=True,
        endpoint="http://127.0.0.1:9324",
        region="eu-west-1",
        store="file:///srv/store",
    )


def test_an_action_that_says_less_leaves_the_defaults(tmp_path: Path) -> None:
    made = settings_of(configured(tmp_path, "jobs: {type: sqs, status_queue: reported}"), {})
    default = Settings()
    assert (made.queue, made.region, made.endpoint) == (default.queue, default.region, None)
    assert (made.status_queue, made.status_named) == ("reported", True)


def test_without_an_sqs_action_the_defaults_stay(tmp_path: Path) -> None:
    made = settings_of(configured(tmp_path, "n: {type: noop}"), {})
    assert made == Settings(store="file:///srv/store")


SEVERAL = (
    JOBS + ", more: {type: sqs, queue: other, status_queue: reported}, rest: {type: sqs, status_queue: x}"
)


def test_of_several_queues_none_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        settings_of(configured(tmp_path, SEVERAL), {})
    assert str(refused.value) == (
        "several sqs actions, jobs (q-jobs), more (other), rest (nrf_impact_assessment_queue):"
        " choose one with SQS_QUEUE_NAME"
    )


@pytest.mark.parametrize(
    ("queue", "status"), [("other", "reported"), ("nrf_impact_assessment_queue", "x"), ("q-jobs", "q-status")]
)
def test_of_several_queues_the_environment_chooses(tmp_path: Path, queue: str, status: str) -> None:
    made = settings_of(configured(tmp_path, SEVERAL), {"SQS_QUEUE_NAME": queue})
    assert (made.queue, made.status_queue, made.status_named) == (queue, status, True)


def test_a_queue_of_no_action_is_used_as_it_is_named(tmp_path: Path) -> None:
    made = settings_of(configured(tmp_path, SEVERAL), {"SQS_QUEUE_NAME": "mine"})
    assert made == Settings(queue="mine", store="file:///srv/store")


def test_the_environment_comes_first(tmp_path: Path) -> None:
    said = {
        "SQS_QUEUE_NAME": "mine",
        "SQS_STATUS_QUEUE_NAME": "",
        "SQS_ENDPOINT": "https://sqs.example",
        "AWS_REGION": "eu-west-2",
        "SWITCHYARD_STORE": "s3://bucket/x",
    }
    made = settings_of(configured(tmp_path, JOBS), said)
    assert (made.queue, made.status_queue, made.endpoint) == ("mine", None, "https://sqs.example")
    assert (made.region, made.store) == ("eu-west-2", "s3://bucket/x")


def test_its_log_is_as_the_file_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings_of(configured(tmp_path, JOBS, "log: {level: error, format: json}\n"), {})
    logging.getLogger("x").warning("too little")
    logging.getLogger("x").error("enough")
    (line,) = capsys.readouterr().err.splitlines()
    assert '"event": "enough"' in line


def test_a_file_that_is_wrong_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="type"):
        settings_of(configured(tmp_path, "jobs: {type: sqz}"), {})
    with pytest.raises(ConfigError, match=r"SQS_ENDPOINT is not an http"):
        settings_of(configured(tmp_path, JOBS), {"SQS_ENDPOINT": "localhost"})
