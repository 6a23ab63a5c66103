"""The sample: a region made up by `assessment bundle sample`, and one assessment of its sites."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import UUID

from psycopg import Connection

from switchyard.errors import SwitchyardError
from switchyard.ledger.submission import Submission
from switchyard.ledger.submit import submit
from switchyard.up.folder import Folder


def make_region(folder: Folder) -> None:
    """The sample region, made once: a folder that is there is whole, because it was renamed into place."""
    if folder.region.exists():
        return
    draft = folder.path / "region.draft"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "assessment", "bundle", "sample", str(draft)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SwitchyardError(f"the sample region could not be made:\n{done.stderr[-2000:]}")
    draft.rename(folder.region)


def submit_sample(connection: Connection, folder: Folder, *, again: bool) -> UUID:
    """The sample's id: the one that an earlier start submitted, unless it is to run again."""
    number = _number(folder) + 1 if again else max(1, _number(folder))
    parameters = {
        "assessment": "nutrient",
        "input": {"url": (folder.region / "sites.geojson").as_uri()},
        "bundle": str(folder.region / "bundle"),
        "formats": ["csv", "geojson"],
    }
    uuid = submit(
        connection,
        Submission(
            "shell",
            parameters,
            "nutrient",
            correlation_id=f"sample-{number}",
            idempotency_key=f"sample-{number}",
        ),
    )
    _write(folder.submitted, {"number": number, "action_uuid": str(uuid)})
    return uuid


def _number(folder: Folder) -> int:
    if not folder.submitted.exists():
        return 0
    number: int = json.loads(folder.submitted.read_text())["number"]
    return number


def _write(path: Path, content: object) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content))
    draft.rename(path)
