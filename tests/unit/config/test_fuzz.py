"""Whatever is in the file, the answer is a Config or InvalidConfig, never another exception."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from switchyard.config.document import parse_document
from switchyard.config.load import examine
from switchyard.config.problems import InvalidConfig
from switchyard.config.published import json_schema

SAMPLE = (Path(__file__).parents[3] / "config" / "switchyard.yaml").read_bytes()


def words() -> list[str]:
    """Every key and fixed word of the schema, so that fuzz gets past the first door."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.update(str(key) for key in node.get("properties", {}))
            found.update(str(word) for word in node.get("enum", []))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(json_schema())
    return sorted(
        found | {"http", "argo", "noop", "local", "env:A", "$.a", "10s", "{{ a }}", "200-299", "<<"}
    )


scalars = (
    st.sampled_from(words()) | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(words()), inner, max_size=5),
    max_leaves=25,
)
sections = st.dictionaries(st.sampled_from(sorted(json_schema()["properties"])), trees, max_size=5)


patient = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def judge(data: bytes, environ: dict[str, str] | None = None) -> None:
    try:
        config, problems = examine(parse_document(data, "s.yaml"), environ or {}, {}, Path())
    except InvalidConfig as error:
        config, problems = None, list(error.problems)
    assert config is not None or any(not problem.warning for problem in problems)
    assert all(str(problem) and problem.place for problem in problems)


@patient
@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"? ")
@example(b"%YAML 9.9\n---\n")
@example(b"%TAG ! tag:x,2000:\n--- !y z")
@example(b"a: !<x> y")
@example(b"--- >-9999\n")
@example(b"&a a: *a")
@example(b"'\\ud800': \"\\ud800\"")
def test_bytes(data: bytes) -> None:
    judge(data)


@patient
@given(st.text(alphabet=" \n-:[]{},#&*!|>'\"%@`?ab1~<", max_size=60))
def test_text_of_yamls_own_characters(text: str) -> None:
    judge(text.encode())


@patient
@given(trees)
def test_any_tree(tree: Any) -> None:
    judge(yaml.safe_dump(tree).encode())


@patient
@given(sections)
def test_any_content_of_the_sections(tree: Any) -> None:
    judge(yaml.safe_dump(tree).encode())


@patient
@given(
    st.sampled_from(["http", "argo", "local", "sqs", "cirrus", "stac", "argo_resume", "cirrus_task"]),
    trees,
    trees,
)
def test_any_action_and_workflow(kind: str, one: Any, other: Any) -> None:
    action = {**(one if isinstance(one, dict) else {}), "type": kind}
    workflow = {**(other if isinstance(other, dict) else {}), "action": "a"}
    judge(yaml.safe_dump({"actions": {"a": action}, "workflows": {"w": workflow}}).encode())


@patient
@given(st.data())
def test_the_sample_with_bytes_changed(data: st.DataObject) -> None:
    text = bytearray(SAMPLE)
    for _ in range(data.draw(st.integers(1, 5))):
        position = data.draw(st.integers(0, len(text) - 1))
        text[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    judge(bytes(text))


@patient
@given(
    st.dictionaries(
        st.sampled_from(sorted(json_schema()["properties"])).map(lambda name: f"SWITCHYARD_{name.upper()}")
        | st.sampled_from(
            ["SWITCHYARD_CONDUCTOR__BATCH", "SWITCHYARD___", "SWITCHYARD_ACTIONS____TYPE", "SWITCHYARD_"]
        ),
        st.text(max_size=20).filter(lambda text: "\0" not in text),
        max_size=4,
    )
)
def test_any_environment(environ: dict[str, str]) -> None:
    judge(b"actions: {n: {type: noop}}", environ)
