"""A setting comes from the flag, else the environment, else the file, else the default."""

from pathlib import Path

import pytest

from switchyard.config import InvalidConfig
from switchyard.config.load import load
from tests.unit.config.reading import NOOP, problems, read

FILE = "conductor: {batch: 2}\n"


def test_the_order_of_sources() -> None:
    variable = {"SWITCHYARD_CONDUCTOR__BATCH": "3"}
    assert read("").conductor.batch == 500
    assert read(FILE).conductor.batch == 2
    assert read(FILE, variable).conductor.batch == 3
    assert read(FILE, variable, {"conductor.batch": 4}).conductor.batch == 4
    assert read(FILE, variable, {"conductor.batch": None}).conductor.batch == 3


@pytest.mark.parametrize(
    ("variable", "value", "path"),
    [
        ("SWITCHYARD_STORE", "s3://b/p", ("store",)),
        ("switchyard_conductor__poll", "7s", ("conductor", "poll")),
        ("SWITCHYARD_CONDUCTOR__HEALTH__PORT", "0", ("conductor", "health", "port")),
        ("SWITCHYARD_DATABASE__SCHEMA", "switchyard", ("database", "schema_name")),
        ("SWITCHYARD_CORRELATION_HEADER", "x-request-id", ("correlation_header",)),
    ],
)
def test_every_key_can_be_reached(variable: str, value: str, path: tuple[str, ...]) -> None:
    node: object = read("", {variable: value})
    for part in path:
        node = getattr(node, part)
    assert str(node) == {"7s": "7.0"}.get(value, value)


def test_names_with_dashes_dots_and_capitals_can_be_reached() -> None:
    config = read("actions: {My-Hook.v1: {type: noop}}", {"SWITCHYARD_ACTIONS__MY_HOOK_V1__CONCURRENCY": "7"})
    assert config.actions["My-Hook.v1"].concurrency == 7


def test_json_gives_lists_and_mappings() -> None:
    config = read(NOOP, {"SWITCHYARD_ACTIONS": '{"a": {"type": "noop"}}'})
    assert list(config.actions) == ["a"]


def test_a_new_action_can_come_from_the_environment_alone() -> None:
    assert read("", {"SWITCHYARD_ACTIONS__A__TYPE": "noop"}).actions["a"].type == "noop"


@pytest.mark.parametrize(
    ("variable", "value", "path", "said"),
    [
        ("SWITCHYARD_CONDUCTOR__BATCH", "many", "conductor.batch", "must be a valid integer"),
        ("SWITCHYARD_CONDUCTOR__BACTH", "3", "conductor.bacth", "did you mean 'batch'?"),
        ("SWITCHYARD_CONDUCTR__BATCH", "3", "conductr", "did you mean 'conductor'?"),
        ("SWITCHYARD_CONDUCTOR__POLL", "30", "conductor.poll", "a duration is written like"),
        ("SWITCHYARD_ACTIONS", "{nonsense", "actions", "starts like JSON, but is not"),
        ("SWITCHYARD_ACTIONS", "[" * 100_000, "actions", "starts like JSON, but is not"),
        ("SWITCHYARD_CONDUCTOR", "5", "conductor", "must be a mapping"),
    ],
)
def test_an_error_names_the_variable(variable: str, value: str, path: str, said: str) -> None:
    (problem,) = problems("", {variable: value})
    assert str(problem.place) == f"environment {variable}"
    assert problem.dotted == path
    assert said in problem.message


@pytest.mark.parametrize(
    "variable", ["SWITCHYARD_ACTION_UUID", "SWITCHYARD_SERVICE_HOST", "SWITCHYARD_CONFIG", "PGHOST"]
)
def test_variables_of_others_are_left_alone(variable: str) -> None:
    assert problems("", {variable: "x"}) == []


def test_the_database_url_in_the_environment_stays_there() -> None:
    environ = {"SWITCHYARD_DATABASE__URL": "postgresql://u:hunter2@h/d"}
    config = read("", environ)
    assert str(config.database.url) == "env:SWITCHYARD_DATABASE__URL"
    assert config.database.conninfo(environ) == "postgresql://u:hunter2@h/d"
    assert "hunter2" not in f"{config!r}{config}{config.model_dump()}{config.model_dump_json()}"


def test_a_reference_in_the_environment_is_a_reference() -> None:
    config = read("", {"SWITCHYARD_DATABASE__URL": "env:OTHER", "SWITCHYARD_SECRETS__A": "hunter2"})
    assert str(config.database.url) == "env:OTHER"
    assert str(config.secrets["a"]) == "env:SWITCHYARD_SECRETS__A"


def test_without_a_url_libpq_decides() -> None:
    assert read("").database.conninfo({}) == ""


def test_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, batch in (("switchyard.yaml", 1), ("named.yaml", 2), ("given.yaml", 3)):
        (tmp_path / name).write_text(f"conductor: {{batch: {batch}}}")
    monkeypatch.chdir(tmp_path)
    named = {"SWITCHYARD_CONFIG": "named.yaml"}
    assert load(None, {}).conductor.batch == 1
    assert load(None, named).conductor.batch == 2
    assert load("given.yaml", named).conductor.batch == 3


def test_no_file_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidConfig, match=r"give -c FILE, set SWITCHYARD_CONFIG, or write ./switchyard.yaml"
    ):
        load(None, {})


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "in.json").write_text('{"type": "object"}')
    (folder / "wf.yaml").write_text("kind: Workflow\nspec: {templates: []}\n")
    (folder / "s.yaml").write_text("""
actions: {a: {type: argo, namespace: n, kubeconfig: kube/config}}
workflows: {w: {action: a, manifest: wf.yaml, input_schema: in.json}}
""")
    config = load(folder / "s.yaml", {})
    assert config.actions["a"].model_dump()["kubeconfig"] == folder / "kube/config"
    manifest = config.workflows["w"].manifest
    assert manifest is not None
    assert manifest.document["kind"] == "Workflow"


def test_mutation_29_a_text_in_quotes_is_read_as_json() -> None:
    assert read("", {"SWITCHYARD_CORRELATION_HEADER": '"x-quoted"'}).correlation_header == "x-quoted"
    [problem] = problems("", {"SWITCHYARD_CORRELATION_HEADER": '"x-quoted'})
    assert "starts like JSON, but is not" in problem.message


def test_mutation_29_a_problem_below_an_overridden_value_names_the_variable() -> None:
    text = "actions: {a: {type: noop, retry: {attempts: 3}}}"
    [problem] = problems(text, {"SWITCHYARD_ACTIONS__A__RETRY": '{"attempts": 0}'})
    assert problem.dotted == "actions.a.retry.attempts"
    assert str(problem.place) == "environment SWITCHYARD_ACTIONS__A__RETRY", (
        "the place in the file is no longer true"
    )
