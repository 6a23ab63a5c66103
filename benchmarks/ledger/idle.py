"""What an idle conductor and an idle caboose send: statements per minute, by connection and statement.

python -m benchmarks.ledger.idle --seconds 120
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from tests.deployment import configuration

BIN = Path(sys.executable).parent
LOGGED = re.compile(r"\| ([^|]*)\| LOG:  (?:statement|execute [^:]*): (.*)")
SETTLED = 75.0  # seconds until loops that start eagerly have found that there is nothing to do
SPARING: dict[str, Any] = {
    "conductor": {"poll": "10m"},
    "caboose": {"poll": "5m"},
    "workers": {"beat": "5m", "lost_after": "15m"},
}


def content(folder: Path, sparing: bool) -> dict[str, Any]:
    """Two action names, one of which runs a workflow."""
    run = {"type": "local", "command": "true", "spool": str(folder / "spool")}
    actions = {"actions": {"hook": {"type": "noop"}, "run": run}, "workflows": {"flow": {"action": "run"}}}
    return {**(SPARING if sparing else {}), **actions}


def counted(log: str) -> Counter[str]:
    """Statements by connection and first words; ids are left out."""
    found: Counter[str] = Counter()
    for who, statement in LOGGED.findall(log):
        found[re.sub(r"[0-9a-f-]{36} ", "", who) + ": " + " ".join(statement.split()[:6])] += 1
    return found


def measured(seconds: float, sparing: bool) -> Counter[str]:
    """The statements of both programs in that time, after they have settled."""
    with server(log_statement="all", log_line_prefix="| %a| ") as on:
        url = fresh(on)
        migrate.upgrade(url)
        folder = Path(tempfile.mkdtemp(prefix="switchyard-idle-"))
        file = configuration.write(folder / "switchyard.yaml", content(folder, sparing))
        environ = {**os.environ, "DATABASE_URL": url}
        programs = [
            subprocess.Popen([BIN / name, "run", "-c", file], env=environ, stderr=subprocess.DEVNULL)
            for name in ("conductor", "caboose")
        ]
        try:
            time.sleep(SETTLED)
            before = on.process.log.stat().st_size
            time.sleep(seconds)
            return counted(on.process.log.read_bytes()[before:].decode())
        finally:
            for program in programs:
                program.terminate()
            for program in programs:
                program.wait(60)


def main() -> None:
    """Print them, the most frequent first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--sparing", action="store_true", help="with the settings of docs/idle.md")
    options = parser.parse_args()
    found = measured(options.seconds, options.sparing)
    per_minute = 60 / options.seconds
    for statement, count in found.most_common():
        print(f"{count * per_minute:6.1f} {statement}")
    print(f"{found.total() * per_minute:6.1f} statements per minute")


if __name__ == "__main__":
    main()
