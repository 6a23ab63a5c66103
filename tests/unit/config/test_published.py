"""What is published is current: the JSON Schema, the reference, and the sample that `check` accepts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from switchyard.backends.registry import built_in
from switchyard.cli.schema import as_text
from switchyard.config.load import load
from switchyard.config.published import json_schema
from tests.unit.config.reading import problems
from tools.reference import reference

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "config" / "switchyard.yaml"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(json_schema())
    return Draft202012Validator(json_schema())


def test_the_committed_schema_is_current() -> None:
    assert (ROOT / "config" / "schema.json").read_text() == as_text(json_schema()), "run make schema"


def test_the_committed_reference_is_current() -> None:
    assert (ROOT / "docs" / "configuration-reference.md").read_text() == reference(), "run make schema"


def test_every_key_of_the_reference_is_explained() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []


def test_links_of_the_reference_lead_somewhere() -> None:
    text = reference()
    titles = {line[3:].lower().replace(" ", "-") for line in text.splitlines() if line.startswith("## ")}
    links = {part.split(")")[0] for part in text.split("(#")[1:]}
    assert links <= titles


def test_the_sample_is_good_and_has_every_type(validator: Draft202012Validator) -> None:
    config = load(SAMPLE, environ={})
    assert {action.type for action in config.actions.values()} == set(built_in()) - {"noop"}
    assert list(validator.iter_errors(yaml.safe_load(SAMPLE.read_text()))) == []


@pytest.mark.parametrize(
    "text",
    [
        "conductor: {bacth: 3}",
        "conductor: {poll: 30}",
        "actions: {a: {type: nope}}",
        "actions: {a: {concurrency: 3}}",
        "actions: {'a b': {type: noop}}",
        "secrets: {a: hunter2}",
        "workflows: {w: {action: a, callbacks: [{name: c, action: a, when: [Failed]}]}}",
        "partitions: {interval: year}",
    ],
)
def test_the_schema_refuses_what_check_refuses(validator: Draft202012Validator, text: str) -> None:
    assert problems(text)
    assert list(validator.iter_errors(yaml.safe_load(text)))


def test_what_the_models_dump_meets_the_schema(validator: Draft202012Validator) -> None:
    dumped: Any = json.loads(load(SAMPLE, environ={}).model_dump_json())
    assert list(validator.iter_errors(dumped)) == []


def test_a_program_that_starts_parses_no_source() -> None:
    """Docstrings of keys are read when the schema is written; reading them takes a fifth of a command's start."""
    code = "import tokenize, sys; tokenize._tokenize = None; import switchyard.config.load"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
