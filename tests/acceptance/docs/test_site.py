"""`make docs`: every page is reachable, every link and anchor resolves, and nothing is loaded from another host."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.acceptance.docs.blocks import ROOT
from tools.site import on_page_markdown

LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*")


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    mkdocs = Path(sys.executable).parent / "mkdocs"
    command: list[str | Path] = [mkdocs, "build", "--config-file", config, "--site-dir", site]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def test_it_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = build(ROOT / "mkdocs.yml", tmp_path)
    assert done.returncode == 0, done.stderr
    pages = {str(page.relative_to(tmp_path)): page.read_text() for page in tmp_path.rglob("*.html")}
    assert {"index.html", "changelog.html", "contributing.html", "sql.html"} <= pages.keys()
    assert {name: LOADED.findall(text) for name, text in pages.items() if LOADED.search(text)} == {}


def test_lists_and_tables_need_no_blank_line_before_them() -> None:
    text = "A text:\n- one\n  goes on\n- two\n\nAnother:\n| a | b |\n| --- | --- |\n```sh\nls\n- no item\n```"
    assert on_page_markdown(text) == (
        "A text:\n\n- one\n  goes on\n- two\n\nAnother:\n\n| a | b |\n| --- | --- |\n\n```sh\nls\n- no item\n```"
    )


def test_a_link_to_a_missing_section_fails(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Title\n\n[elsewhere](#nowhere)\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nnav: [index.md]\nhooks: []\n")
    done = build(config, tmp_path / "site")
    assert done.returncode == 1
    assert "#nowhere" in done.stderr
