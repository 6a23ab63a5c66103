"""YAML is read with places, by the rules of YAML 1.2, and nothing in it can hurt."""

from pathlib import Path
from typing import Any

import pytest

from switchyard.config.document import Document, parse_document, read_document
from switchyard.config.problems import InvalidConfig


def parsed(text: str) -> Document:
    return parse_document(text.encode(), "s.yaml")


def refused(data: bytes) -> tuple[str, str]:
    with pytest.raises(InvalidConfig) as caught:
        parse_document(data, "s.yaml")
    problem = caught.value.problems[-1]
    return str(problem.place), problem.message


def test_every_key_and_item_has_its_place() -> None:
    document = parsed("a:\n  b: [1, 2]\nc: {d: e}\n")
    assert str(document.place_of(("a", "b", 1))) == "s.yaml:2:10"
    assert str(document.place_of(("c", "d"))) == "s.yaml:3:5"
    assert str(document.place_of(("a", "b", 7, "x"))) == "s.yaml:2:3"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("1_000", "1_000"),
        ("~", None),
        ("", None),
        ("TRUE", True),
        ("'1'", "1"),
        ("!!str 1", "1"),
        (".5", 0.5),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    document = parsed(f"k: {text}")
    assert document.data == {"k": value}
    assert type(document.data["k"]) is type(value)
    assert document.problems == []


def test_anchors_and_merge_keys_work() -> None:
    document = parsed("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 4}]}\n")
    assert document.data["b"] == {"x": 1, "y": 3}
    assert document.data["c"] == {"x": 1, "y": 2, "z": 4}
    assert document.problems == []


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "s.yaml:3:1", "duplicate key, first in line 1"),
        ("a: !!python/object:os.system {}\n", "s.yaml:1:4", "tags are not allowed"),
        ("a: !secret x\n", "s.yaml:1:4", "tags are not allowed"),
        ("a: !!int x\n", "s.yaml:1:4", "not a number"),
        ("a: !!bool x\n", "s.yaml:1:4", "tags are not allowed"),
        ("[a]: 1\n", "s.yaml:1:1", "plain text"),
        ("a: .nan\n", "s.yaml:1:4", "not finite"),
        ("a: 1e999\n", "s.yaml:1:4", "not finite"),
        (f"a: {'9' * 5000}\n", "s.yaml:1:4", "not a number"),
        ("a: {<<: 5}\n", "s.yaml:1:9", "alias of a mapping"),
    ],
)
def test_what_is_wrong_with_the_form_is_collected(text: str, where: str, said: str) -> None:
    (problem,) = parsed(text).problems
    assert str(problem.place) == where
    assert said in problem.message


@pytest.mark.parametrize(
    ("data", "where", "said"),
    [
        (b"a: [1, 2\n", "s.yaml:2:1", "not YAML"),
        (b"a: b: c\n", "s.yaml:1:5", "not YAML"),
        (b"\ta: 1\n", "s.yaml:1:1", "not YAML"),
        (b"a: *secretword\n", "s.yaml:1:4", "an alias"),
        (b"a: 1\n---\nb: 2\n", "s.yaml:2:1", "one document"),
        (b"a: 1\nb: \xff\n", "s.yaml:2:4", "not UTF-8"),
        (b"a: 1\nb: \x00\n", "s.yaml:2:4", "does not allow"),
        (b"[" * 10_000, "s.yaml:1:", "levels deep"),
        (b"a: &a [*a]\n", "s.yaml:1:", "expand"),
    ],
)
def test_what_cannot_be_read_at_all(data: bytes, where: str, said: str) -> None:
    place, message = refused(data)
    assert place.startswith(where)
    assert said in message
    assert "secretword" not in message


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    _, message = refused("\n".join(lines).encode())
    assert "aliases expand" in message


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(InvalidConfig, match="larger than 1024 KiB"):
        read_document(path)


@pytest.mark.parametrize("content", [b"", b"\n  \n"])
def test_an_empty_file_is_refused_so_that_a_running_program_keeps_its_configuration(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "s.yaml").write_bytes(content)
    with pytest.raises(InvalidConfig, match="is empty"):
        read_document(tmp_path / "s.yaml")
    (tmp_path / "s.yaml").write_text("{}")
    assert read_document(tmp_path / "s.yaml").data == {}


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="cannot be read: Is a directory"):
        read_document(tmp_path)


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse_document(b"\xef\xbb\xbfa: 1", "s.yaml").data == {"a": 1}
