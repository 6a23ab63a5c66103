"""What the sample produced, and where; only what exists is printed."""

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.errors import SwitchyardError
from switchyard.up.folder import Folder


@dataclass(frozen=True, slots=True)
class Results:
    """The sample's row and those of its callbacks, when all have ended."""

    folder: Folder
    uuid: UUID
    rows: list[dict[str, Any]]

    @property
    def good(self) -> bool:
        """Everything went well."""
        return all(row["status"] == "SUCCESSFUL" for row in self.rows)

    @property
    def sample(self) -> dict[str, Any]:
        """The assessment's own row."""
        return next(row for row in self.rows if row["action_uuid"] == self.uuid)

    @property
    def outputs(self) -> Path:
        """The folder of its last run."""
        return self.folder.store / "executions" / str(self.uuid) / f"r{self.sample['run']}"

    @property
    def callbacks(self) -> set[str]:
        """The ids of what followed."""
        return {str(row["action_uuid"]) for row in self.rows} - {str(self.uuid)}


def show(results: Results, dashboard: int, *, stays: bool) -> None:
    """Where everything is; an error where what should be there is not."""
    sample, report = results.sample, results.outputs / "report.html"
    delivered = {path.stem for path in results.folder.deliveries.glob("*.json")} & results.callbacks
    print(f"\nThe assessment is {sample['status']}.")
    if sample["status"] == "SUCCESSFUL":
        if not report.exists():
            raise SwitchyardError(f"the assessment ended, but {report} is not there")
        print(f"  report and map   {_near(report)}")
    else:
        print(f"  error            {sample['error']}")
    print(f"  results          {_near(results.outputs)}")
    print(
        f"  callbacks        {len(delivered)} of {len(results.callbacks)} delivered and signed, "
        f"in {_near(results.folder.deliveries)}"
    )
    print(f"  logs             {_near(results.folder.logs)}")
    if stays:
        print(f"  dashboard        http://127.0.0.1:{dashboard}/jobs/{results.uuid}")
        print(f"\nLook around: {_command()} show {results.uuid} -c {_near(results.folder.config)}")
        print("Still running; Ctrl-C stops everything.", flush=True)
    else:
        print(f"\nStart it again and look around: {_command()} up --folder {_near(results.folder.path)}")


def _command() -> str:
    """Our own command as a person would type it here."""
    ours = Path(sys.argv[0])
    if ours.name != "switchyard":
        return f"{shlex.quote(_near(Path(sys.executable)))} -m switchyard"
    found = shutil.which("switchyard")
    return "switchyard" if found and Path(found).samefile(ours) else shlex.quote(_near(ours))


def _near(path: Path) -> str:
    """From here, where that is shorter; links are left alone, for an environment's python is one."""
    return min(os.path.relpath(path), str(path), key=len)
