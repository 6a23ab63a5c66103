"""docs/configuration.md says what is so: its code runs, its problems are what would be said."""

import re
import shutil
from pathlib import Path

import pytest

from tests.unit.config.reading import problems, read

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "configuration.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "config" / "schemas", tmp_path / "schemas")
    shutil.copy(ROOT / "config" / "switchyard.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block("python"), names)
    assert names["problems"] == []


def test_its_variables_reach_what_it_documents() -> None:
    lines = [line for line in block("sh").splitlines() if line.startswith("export SWITCHYARD_")]
    environ = dict(line.removeprefix("export ").split("#")[0].strip().split("=", 1) for line in lines)
    environ = {name: value.strip("'") for name, value in environ.items()}
    http = "{type: http, request: {url: 'https://a.example'}}"
    config = read(f"actions: {{my-hook: {http}, hook: {http}}}", environ)
    assert config.conductor.batch == 200
    assert config.store == "s3://bucket/prefix"
    assert config.actions["my-hook"].timeout == 5
    assert config.actions["hook"].model_dump()["allow_hosts"] == ("a.example",)


def test_its_problems_are_what_would_be_reported() -> None:
    shown = re.findall(r"^switchyard\.yaml:\d+:\d+: (.*)$", TEXT, re.MULTILINE)
    said = problems("""
        actions:
          webhook:
            type: http
            request: {url: 'https://a.example'}
            retry: {attemps: 3}
            timeout: 30
          argo: {type: argo, namespace: n}
        workflows:
          nutrient: {action: agro, template: t}
    """)
    assert shown == [f"{problem.dotted}: {problem.message}" for problem in said]
