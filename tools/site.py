"""What mkdocs needs beyond docs/: pages of the root folder, and Markdown as GitHub reads it (`make docs`)."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
# Pages of the root folder, under the names that they have on the site.
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
_BLOCK = re.compile(r"(?:[-*] |\d+\. |\||```|<!--)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pages of the root folder. Decisions are reached by their index, not by the navigation."""
    for name, shown in BESIDE.items():
        text = (ROOT / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, shown, content=text))
    for file in files.documentation_pages():
        if file.src_uri.startswith("adr/0"):
            file.inclusion = file.inclusion.NOT_IN_NAV
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Correct links to the root's pages; add the blank lines that Python-Markdown needs before blocks."""
    for name, shown in BESIDE.items():
        markdown = markdown.replace(f"](../{name}", f"]({shown}")
    return "\n".join(_spaced(markdown.splitlines()))


def _spaced(lines: list[str]) -> list[str]:
    spaced: list[str] = []
    fenced = False
    before = ""
    for line in lines:
        starts = not fenced and _BLOCK.match(line) and before and not _continues(line, before)
        spaced += ["", line] if starts or (not fenced and before.startswith("<!--")) else [line]
        fenced ^= line.startswith("```")
        before = line
    return spaced


def _continues(line: str, before: str) -> bool:
    """A row follows a row; an item follows an item or its continuation."""
    if line.startswith("|"):
        return before.startswith("|")
    return line.startswith(("-", "*")) and before.startswith(("- ", "* ", "  "))
