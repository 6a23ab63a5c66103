"""A database, a configuration, and the programs that a test spawns on them."""

import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from switchyard.config.config import Config
from switchyard.config.load import load
from switchyard.store import Store, open_store
from tests.deployment import configuration
from tests.deployment.ledger import Ledger
from tests.deployment.program import Program
from tests.parts.database import Database
from tests.waiting import until

BIN = Path(sys.executable).parent


class Deployment:
    """Everything that it spawned is killed by `close()`."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        config: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        commands: Path = BIN,
    ) -> None:
        self.database, self.folder, self.commands = database, folder, commands
        self.ledger = Ledger(database)
        self.file = folder / "switchyard.yaml"
        # Nothing of the machine's own environment: what a test needs, it passes.
        self.environ = {"DATABASE_URL": database.url, "PATH": "/usr/bin:/bin", **(environ or {})}
        self.programs: list[Program] = []
        if config is not None:
            self.configure(config)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Write the configuration, in one step also where programs are running."""
        brief = {"conductor": {"grace": "10s"}, "caboose": {"poll": "200ms"}}
        programs = {name: {**settings, **config.get(name, {})} for name, settings in brief.items()}
        configuration.write(self.file, {**config, **programs})

    @property
    def config(self) -> Config:
        return load(self.file, self.environ)

    @cached_property
    def store(self) -> Store:
        return open_store(self.config.store)

    def program(self, name: str, *options: str) -> Program:
        """`conductor run` or `caboose run`, not started yet."""
        argv: list[str | Path] = [self.commands / name, "run", "-c", self.file, *options]
        self.programs.append(Program(name, argv, env=self.environ, logs_in=self.folder))
        return self.programs[-1]

    def add_conductor(self, config: Mapping[str, Any] | None = None, *options: str) -> Program:
        """One more conductor, started, with this configuration."""
        if config is not None:
            self.configure(config)
        made = self.program("conductor", *options)
        made.start()
        return made

    def run(self, program: str, *words: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [self.commands / program, *words],
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def registered(self, count: int) -> None:
        """Wait until this many workers live."""
        until(lambda: self.ledger.workers() == count)

    def close(self) -> None:
        for program in self.programs:
            program.kill()
