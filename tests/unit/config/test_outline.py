"""The configuration that the interface draws in outline is read as it is meant."""

from pathlib import Path

import pytest

from switchyard.backends.argo.model import ArgoAction
from switchyard.backends.http.model import HttpAction
from switchyard.config import Config
from switchyard.config.load import load
from switchyard.status import Status

OUTLINE = Path(__file__).parent / "outline.yaml"


@pytest.fixture(scope="module")
def config() -> Config:
    return load(OUTLINE, environ={})


def test_durations_are_seconds(config: Config) -> None:
    assert config.conductor.listen_wait == 0.02
    assert config.workflows["nutrient"].timeout == 1800


def test_actions_have_the_model_of_their_type(config: Config) -> None:
    webhook = config.actions["webhook"]
    assert isinstance(webhook, HttpAction)
    assert webhook.rate is not None
    assert webhook.rate.limit == 100
    assert 599 in webhook.responses[2].status if webhook.responses[2].status else False
    assert isinstance(config.actions["argo"], ArgoAction)


def test_callbacks_follow_the_ends_they_name(config: Config) -> None:
    done, publish, chained = config.workflows["nutrient"].callbacks
    assert done.ends == {Status.SUCCESSFUL, Status.FAILED}
    assert publish.for_ == "items"
    assert chained.workflow == "report"


def test_what_is_dumped_can_be_read_again(config: Config) -> None:
    assert Config.model_validate(config.model_dump(mode="json")) == config
