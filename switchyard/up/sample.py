"""The sample: a region made up by `assessment bundle sample`, and one assessment of its sites."""

import json
import shutil
import subprocess
import sys
from uuid import UUID

from psycopg import Connection

from switchyard.errors import ConfigError
from switchyard.submit import Submission, submit
from switchyard.up.folder import Folder, write_whole


def make_region(folder: Folder) -> None:
    """The sample region, made once: a folder that is there is whole, because it was renamed into place."""
    if folder.region.exists():
        return
    draft = folder.path / "region.draft"
    shutil.rmtree(draft, ignore_errors=True)  # what a start that was cut off left
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "assessment", "bundle", "sample", str(draft)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ConfigError(f"the sample region could not be made in {draft}: {reason}")
    draft.rename(folder.region)


def submit_sample(connection: Connection, folder: Folder, *, again: bool) -> UUID:
    """The sample's id: the one that an earlier start submitted, unless it is to run again."""
    number = _number(folder) + 1 if again else max(1, _number(folder))
    parameters = {
        "assessment": "nutrient",
        "input": {"url": (folder.region / "sites.geojson").as_uri()},
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
    write_whole(folder.submitted, json.dumps({"number": number, "action_uuid": str(uuid)}))
    return uuid


def _number(folder: Folder) -> int:
    if not folder.submitted.exists():
        return 0
    number: int = json.loads(folder.submitted.read_text())["number"]
    return number
