"""The fenced blocks of README.md and docs/, each with what a comment before it says of how it is tried.

`<!-- not run: why -->`    it cannot run here, and why
`<!-- part of: a.b -->`    a piece of the configuration file, which belongs at that path
`<!-- ends with: 1 -->`    the exit code that the commands are shown for
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# Shown, not run: what a program prints, and drawings.
SHOWN = {"text", "mermaid"}
RUN = {"sh", "yaml", "sql", "python", "toml", "json"}
_FENCE = re.compile(
    r"(?:^<!-- (?P<key>[a-z ]+): (?P<value>.*?) -->\n)?^```(?P<language>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block, its place and the comment before it."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.language not in SHOWN and "not run" not in self.marks

    @property
    def file(self) -> str | None:
        """The name of the file that it shows: its first line is a comment with nothing but a name."""
        found = re.match(r"# (?P<name>[\w./-]+\.(?:yaml|py|sh|toml))\n", self.text)
        return found["name"] if found else None


def blocks(page: Path) -> list[Block]:
    """All of one page, from top to bottom."""
    text = page.read_text()
    return [
        Block(
            page,
            text.count("\n", 0, found.start("language")) + 1,
            found["language"].strip(),
            found["body"],
            {found["key"]: found["value"]} if found["key"] else {},
        )
        for found in _FENCE.finditer(text)
    ]
