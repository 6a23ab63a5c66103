"""Where a page is tried: an empty folder, a database of its own, and nothing of the machine's configuration."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import yaml

from switchyard.ledger.migrate import upgrade
from tests.acceptance.docs.blocks import ROOT, Block
from tests.parts.ports import free_port

PATIENCE = 60
# Pages name ports and folders as people would choose them; beside other tests they must be nobody else's.
PORTS, FOLDER = ("8000", "8090"), "/tmp/first"


class Sandbox:
    """Runs the blocks of one page, in their order, as a reader would paste them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self._ports = {port: str(free_port()) for port in PORTS}
        self._groups: list[int] = []
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        self.environ = {
            **kept,
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "DATABASE_URL": url,
            "SWITCHYARD_CONDUCTOR__HEALTH__PORT": "0",
            "SWITCHYARD_CABOOSE__HEALTH__PORT": "0",
            "SWITCHYARD_SIGNALBOX__HEALTH__PORT": "0",
        }

    def run(self, block: Block) -> str:
        """Try it; what it printed. An AssertionError names its place and what went wrong."""
        text = block.text.replace(FOLDER, str(self.folder))
        for port, free in self._ports.items():
            text = text.replace(port, free)
        if block.file:
            with (self.folder / block.file).open("a") as file:
                file.write(text)
            return "" if block.language != "yaml" else self._check(block, self.folder / block.file)
        return str(getattr(self, f"_{block.language}")(block, text))

    def migrate(self) -> None:
        """As somebody did before the page begins."""
        upgrade(self.url)

    def _sh(self, block: Block, text: str) -> str:
        """In a shell of its own that stops at the first failure; what it left running goes with the page."""
        wanted = int(block.marks.get("ends with", "0"))
        output = self.folder / ".output"
        with output.open("w+b") as sink:
            shell = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", text],
                cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True,
            )  # fmt: skip
            self._groups.append(shell.pid)
            code = shell.wait(PATIENCE)
        said = output.read_text()
        assert code == wanted, f"{block.place} ended with {code}, not {wanted}:\n{said}"
        return said

    def _sql(self, block: Block, text: str) -> str:
        with psycopg.connect(self.url, autocommit=True) as connection:
            try:
                connection.execute(text.encode())
            except psycopg.Error as error:
                raise AssertionError(f"{block.place}: {error}") from error
        return ""

    def _python(self, block: Block, text: str) -> str:
        script = self.folder / ".block.py"
        script.write_text(text)
        return self._sh(block, f"python {script}")

    def _json(self, _block: Block, text: str) -> str:
        json.loads(text)
        return ""

    def _yaml(self, block: Block, text: str) -> str:
        """A piece of the configuration, checked in the sample that is shipped."""
        whole: dict[str, Any] = yaml.safe_load((ROOT / "config" / "switchyard.yaml").read_text())
        place: Any = whole
        for key in filter(None, block.marks.get("part of", "").split(".")):
            place = place[key]
        place.update(yaml.safe_load(text))
        file = self.folder / "checked.yaml"
        file.write_text(yaml.safe_dump(whole, sort_keys=False))
        return self._check(block, file)

    def _check(self, block: Block, file: Path) -> str:
        return self._sh(block, f"switchyard check -c {file}")

    def close(self) -> None:
        """End what the page's commands left running."""
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


@contextmanager
def sandbox(folder: Path, url: str) -> Iterator[Sandbox]:
    """One for a page; nothing that it started outlives it."""
    made = Sandbox(folder, url)
    try:
        yield made
    finally:
        made.close()
