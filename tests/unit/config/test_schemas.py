"""JSON Schemas beside the configuration: read, checked, and never fetched from anywhere."""

from pathlib import Path

import pytest

from switchyard.config import InvalidConfig
from switchyard.config.load import load
from switchyard.config.schemas import JsonSchema

FILE = "actions: {n: {type: noop}}\nworkflows: {w: {action: n, input_schema: in.json}}\n"


def schema_in(tmp_path: Path, content: bytes) -> JsonSchema:
    (tmp_path / "s.yaml").write_text(FILE)
    (tmp_path / "in.json").write_bytes(content)
    schema = load(tmp_path / "s.yaml", {}).workflows["w"].input_schema
    assert schema is not None
    return schema


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b" " * (4 * 2**20 + 1), "larger than 4 MiB"),
        (b"[1]", "a JSON Schema written in place"),
        (b'{"pattern": "("}', "not a valid JSON Schema at \\$.pattern"),
        (
            b'{"properties": {"a": {"$ref": "#/$defs/none"}}}',
            "'#/\\$defs/none', which is not in the same document",
        ),
        (b'{"$ref": "http://127.0.0.1:9/x"}', "not in the same document"),
        (b'{"allOf": [{"$dynamicRef": "other.json"}]}', "not in the same document"),
    ],
)
def test_what_is_not_a_schema_is_refused_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"s.yaml:2:28: workflows.w.input_schema: .*{said}"):
        schema_in(tmp_path, content)


def test_references_within_the_document_work(tmp_path: Path) -> None:
    schema = schema_in(
        tmp_path,
        b"""{"$id": "https://x.example/root", "$defs": {"n": {"$id": "n", "type": "integer"}},
             "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "n"}}}""",
    )
    assert list(schema.problems({"a": 1, "b": 2})) == []
    assert [problem.dotted for problem in schema.problems({"a": "x", "b": "y"}, ("parameters",))] == [
        "parameters.a",
        "parameters.b",
    ]


def test_older_dialects_are_read_as_such(tmp_path: Path) -> None:
    schema = schema_in(
        tmp_path,
        b'{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}',
    )
    assert list(schema.problems(2)) == []
    assert len(list(schema.problems(1))) == 1


def test_a_schema_that_never_ends_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    (problem,) = schema_in(tmp_path, b'{"$ref": "#"}').problems({})
    assert "without end" in problem.message


def test_false_allows_nothing(tmp_path: Path) -> None:
    assert len(list(schema_in(tmp_path, b"false").problems({}))) == 1
