"""Types from other packages: found by entry point, configured by their own model, harmless when broken."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from switchyard.backends import registry
from switchyard.config.published import installed_schema, json_schema
from tests.unit.config.reading import problems, read

MODULE = """
from typing import ClassVar, Literal
from switchyard.backends.plugin import Backend
from switchyard.config import Action

class PigeonAction(Action):
    runs_workflows: ClassVar[bool] = True
    type: Literal["pigeon"] = "pigeon"
    loft: str

def handler(*_):
    pass

pigeon = Backend("pigeon", handler, PigeonAction)
plain = Backend("plain", handler)
wrong = Backend("wrong", handler, int)
misnamed = Backend("pigeon", handler, PigeonAction)
http = Backend("http", handler, int)
"""
ENTRY_POINTS = """
[switchyard.backends]
pigeon = pigeon_post:pigeon
plain = pigeon_post:plain
wrong = pigeon_post:wrong
misnamed = pigeon_post:misnamed
handler = pigeon_post:handler
broken = pigeon_post_that_is_not_there:backend
exiting = exits_at_import:backend
http = pigeon_post:http
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package as pip would leave it: a module, and its metadata beside it."""
    (tmp_path / "pigeon_post.py").write_text(MODULE)
    (tmp_path / "exits_at_import.py").write_text("raise SystemExit(3)")
    info = tmp_path / "pigeon_post-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeon-post\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.foreign.cache_clear()
    yield
    sys.modules.pop("pigeon_post", None)
    registry.foreign.cache_clear()


def test_its_own_model_reads_it() -> None:
    config = read("actions: {p: {type: pigeon, loft: north, timeout: 5s}}\nworkflows: {w: {action: p}}")
    assert config.actions["p"].model_dump()["loft"] == "north"
    assert config.actions["p"].timeout == 5


def test_its_errors_have_places_and_suggestions() -> None:
    missing, unknown = problems("actions:\n  p: {type: pigeon,\n    lofd: north}")
    assert missing.dotted == "actions.p.loft"
    assert str(unknown) == "s.yaml:3:5: actions.p.lofd: unknown key (did you mean 'loft'?)"


def test_without_a_model_it_takes_options() -> None:
    action = read("actions: {p: {type: plain, options: {a: [1]}}}").actions["p"]
    assert action.model_dump()["options"] == {"a": [1]}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("wrong", "'wrong' has a model that is not a subclass of Action"),
        ("misnamed", "pigeon_post:misnamed is not a Backend of type 'misnamed'"),
        ("handler", "pigeon_post:handler is not a Backend"),
        ("broken", "(pigeon_post_that_is_not_there:backend) fails to load: ModuleNotFoundError"),
        ("exiting", "(exits_at_import:backend) fails to load: SystemExit(3)"),
    ],
)
def test_a_broken_package_is_named_and_affects_no_other(kind: str, said: str) -> None:
    (problem,) = problems(f"actions: {{a: {{type: noop}}, b: {{type: {kind}}}}}")
    assert problem.dotted == "actions.b"
    assert said in problem.message


def test_ours_cannot_be_replaced() -> None:
    assert read("actions: {a: {type: http, request: {url: 'https://h'}}}").actions["a"].type == "http"


def test_types_of_others_are_suggested() -> None:
    (problem,) = problems("actions: {a: {type: pidgeon}}")
    assert "did you mean 'pigeon'?" in problem.message


def test_the_printed_schema_knows_them() -> None:
    schema = installed_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    good = {
        "actions": {"p": {"type": "pigeon", "loft": "north"}, "q": {"type": "plain"}, "r": {"type": "noop"}}
    }
    assert list(validator.iter_errors(good)) == []
    assert list(validator.iter_errors({"actions": {"p": {"type": "pigeon"}}}))
    assert list(validator.iter_errors({"actions": {"p": {"type": "pidgeon", "loft": "north"}}}))


def test_the_committed_schema_does_not() -> None:
    assert list(Draft202012Validator(json_schema()).iter_errors({"actions": {"q": {"type": "plain"}}}))
