"""The files around the project name commands, folders and pages that exist."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".github"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def test_the_workflow_runs_what_a_change_must_pass() -> None:
    job = read(FOLDER / "workflows" / "ci.yml")["jobs"]["run"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-1] == "bash .ci/run"
    assert (ROOT / ".ci" / "run").is_file()


def test_the_workflow_runs_on_the_debian_whose_packages_it_wants() -> None:
    """Each Debian has one version of PostgreSQL; Ubuntu has others, and no package of Chromium."""
    job = read(FOLDER / "workflows" / "ci.yml")["jobs"]["run"]
    postgres = {"debian:12": "postgresql-15", "debian:13": "postgresql-17"}[job["container"]["image"]]
    assert postgres in (ROOT / ".ci" / "packages").read_text().split()


def test_the_workflow_can_only_read() -> None:
    assert read(FOLDER / "workflows" / "ci.yml")["permissions"] == {"contents": "read"}


def test_dependabot_looks_where_dependencies_are_declared() -> None:
    files = {"pip": "pyproject.toml", "gomod": "go.mod", "npm": "package.json"}
    for update in read(FOLDER / "dependabot.yml")["updates"]:
        declared = files.get(update["package-ecosystem"])
        if declared:
            assert (ROOT / update["directory"].lstrip("/") / declared).is_file()


def test_the_hooks_of_a_commit_use_the_pinned_tools() -> None:
    [repository] = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for hook in repository["hooks"]:
        program, argument = hook["entry"].split()[:2]
        assert program.startswith(".venv/bin/") or argument in targets


@pytest.mark.parametrize("form", ["bug.yml", "idea.yml"])
def test_an_issue_form_has_questions(form: str) -> None:
    body = read(FOLDER / "ISSUE_TEMPLATE" / form)["body"]
    assert any(field.get("validations", {}).get("required") for field in body)


def test_the_security_page_links_to_pages_that_exist() -> None:
    links = re.findall(r"\]\(([\w./-]+)", (ROOT / "SECURITY.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []
