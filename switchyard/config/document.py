"""A YAML file as plain data, with the position of every key and item.

The file is hostile: its size, depth and expanded size (aliases count each time they are used) are bounded,
tags that make objects are refused, a duplicate key is an error. Types are those of YAML 1.2's core
schema, so `no`, `1:30` and a date are strings. Messages never quote a line of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from switchyard.config.problems import InvalidConfig, Path, Place, Problem
from switchyard.config.scalars import CORE, merge_tag, scalar_value

LARGEST = 1024 * 1024
DEEPEST = 64
MOST_NODES = 100_000


@dataclass(slots=True)
class Document:
    """The data, the position of each part, and what is wrong with its form."""

    source: str
    data: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place_of(self, path: Path) -> Place:
        """The position of a path, else of the nearest part around it."""
        for length in range(len(path), -1, -1):
            place = self.places.get(path[:length])
            if place is not None:
                return place
        return Place(self.source, 1, 1)


class _RefusedError(Exception):
    """Reading cannot go on; it carries the problem."""

    def __init__(self, message: str, mark: Any) -> None:
        super().__init__(message)
        self.message = message
        self.mark = mark


class _Loader(yaml.SafeLoader):
    """Composes nodes, no deeper than DEEPEST, with YAML 1.2's idea of plain scalars."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = CORE
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _RefusedError(f"nested more than {DEEPEST} levels deep", self.get_mark())
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def read_document(path: FilePath) -> Document:
    """Read a file; InvalidConfig where that is not possible at all."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise _unreadable(path, "cannot be read: it is not a valid path") from None
    if len(data) > LARGEST:
        raise _unreadable(path, f"larger than {LARGEST // 1024} KiB, which no configuration needs")
    # Truncated, or just being written: a running program must not drop all its actions for it.
    if not data.strip():
        raise _unreadable(path, "is empty; write {} for a configuration without any key")
    return parse_document(data, str(path))


def parse_document(data: bytes, source: str) -> Document:
    """Data and positions; InvalidConfig where it is not YAML that we accept."""
    document = Document(source)
    try:
        text = data.decode("utf-8-sig")
        node = _compose(text)
        document.data = _Builder(document).build(node, ()) if node is not None else {}
    except UnicodeDecodeError as error:
        good = data[: error.start].decode()
        raise _invalid(document, "not UTF-8 text", *_position(good)) from None
    except _RefusedError as refused:
        raise _invalid(document, refused.message, refused.mark.line + 1, refused.mark.column + 1) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _invalid(document, _syntax(error), line, column) from None
    except yaml.reader.ReaderError as error:
        good = text[: error.position]
        raise _invalid(document, "a character that YAML does not allow", *_position(good)) from None
    return document


def _compose(text: str) -> Any:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _unreadable(path: FilePath, message: str) -> InvalidConfig:
    return InvalidConfig([Problem((), message, Place(str(path)))])


def _position(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _invalid(document: Document, message: str, line: int, column: int) -> InvalidConfig:
    return InvalidConfig([*document.problems, Problem((), message, Place(document.source, line, column))])


def _syntax(error: yaml.MarkedYAMLError) -> str:
    """PyYAML's message, without the words of the file that it would quote."""
    if isinstance(error, yaml.composer.ComposerError):
        said = str(error.problem)
        if "alias" in said:
            return "an alias (*name) without its anchor (&name); a text that starts with * needs quotes"
        return "there must be one document in the file" if "document" in said else "an anchor is used twice"
    context = f"{error.context}: " if error.context else ""
    return f"not YAML: {context}{error.problem}"


class _Builder:
    """Turns nodes into data, noting places and counting what aliases expand to."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._count = 0

    def build(self, node: Any, path: Path, depth: int = 0) -> Any:
        self._count += 1
        if self._count > MOST_NODES or depth > DEEPEST:
            raise _RefusedError("its aliases expand to more than any configuration needs", node.start_mark)
        self._document.places.setdefault(path, self._place(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index), depth + 1) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: Any, path: Path, depth: int) -> dict[str, Any]:
        if node.tag not in {"tag:yaml.org,2002:map", "!"}:
            self._problem(path, "tags are not allowed here", node)
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == merge_tag:
                for other in self._merged(value_node, path, depth):
                    merged = other | merged
            else:
                self._entry(own, key_node, value_node, path, depth)
        return merged | own

    def _entry(self, own: dict[str, Any], key_node: Any, value_node: Any, path: Path, depth: int) -> None:
        if not isinstance(key_node, yaml.ScalarNode):
            self._problem(path, "a key must be a plain text", key_node)
            return
        key = key_node.value
        here = (*path, key)
        if key in own:
            first = self._document.places[here]
            self._problem(here, f"duplicate key, first in line {first.line}: keep one", key_node)
        self._document.places[here] = self._place(key_node)
        own[key] = self.build(value_node, here, depth + 1)

    def _merged(self, node: Any, path: Path, depth: int) -> Iterator[dict[str, Any]]:
        for part in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if isinstance(part, yaml.MappingNode):
                yield self._mapping(part, path, depth + 1)
            else:
                self._problem(path, "<< takes an alias of a mapping", part)

    def _scalar(self, node: Any, path: Path) -> Any:
        try:
            return scalar_value(node.tag, node.value)
        except ValueError as error:
            self._problem(path, str(error), node)
            return node.value

    def _place(self, node: Any) -> Place:
        return Place(self._document.source, node.start_mark.line + 1, node.start_mark.column + 1)

    def _problem(self, path: Path, message: str, node: Any) -> None:
        self._document.problems.append(Problem(path, message, self._place(node)))
