"""A retriggered workflow continues with what failed, on the real controller, from the archive alone."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.argo.nodes import pack
from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.yard import ENDED, Yard
from tests.parts.node import Node
from tests.waiting import until

FAILS, NODES = 15, 20


def _task(number: int) -> dict[str, Any]:
    """The 15th needs all before it; those after it need the 15th."""
    before = range(1, FAILS) if number == FAILS else [FAILS] if number > FAILS else []
    given = {"parameters": [{"name": "number", "value": str(number)}]}
    needed = [f"n{each}" for each in before]
    return {"name": f"n{number}", "template": "work", "arguments": given, "dependencies": needed}


def _twenty(folder: Path) -> dict[str, Any]:
    """Each node notes that it ran; the 15th needs a file, and reads what the first one wrote for the run."""
    script = (
        'echo "$NUMBER" >> ran; test "$NUMBER" != 1 || { mkdir -p "$OUT" && echo \'{"from": 1}\' > "$OUT/output.json"; }; '
        'test "$NUMBER" != 15 || { test -e mended && grep -q from "$OUT/output.json"; }'
    )
    environ = {
        "NUMBER": "{{inputs.parameters.number}}",
        "OUTPUT": "{{workflow.parameters.switchyard-output}}",
    }
    container = {
        "image": "none",
        "command": ["sh", "-c", f'cd {folder}; OUT="${{OUTPUT#file://}}"; {script}'],
        "env": [{"name": name, "value": value} for name, value in environ.items()],
    }
    work = {"name": "work", "inputs": {"parameters": [{"name": "number"}]}, "container": container}
    graph = {"name": "graph", "dag": {"tasks": [_task(number) for number in range(1, NODES + 1)]}}
    main = {"name": "main", "steps": [[{"name": "all", "template": "graph"}]]}
    return {"spec": {"entrypoint": "main", "templates": [main, graph, work]}}


def _ended(yard: Yard, run: int) -> Any:
    rows = yard.database.execute("select status::text, run from switchyard.thread")
    return next((status for status, at in rows if at == run and status in ENDED), None)


def _ran(folder: Path) -> list[int]:
    return sorted(int(line) for line in (folder / "ran").read_text().split())


def _compress(yard: Yard, uuid: UUID) -> None:
    """The archive as it is where the nodes are larger than Argo stores them plainly."""
    record = yard.archived(uuid)
    record["status"]["compressedNodes"] = pack(record["status"].pop("nodes"))
    yard.store.put(f"executions/{uuid}/r1/workflow.json", json.dumps(record).encode())


@pytest.mark.parametrize("compressed", [False, True])
def test_fourteen_of_twenty_nodes_do_not_run_again_after_archive_and_deletion(
    yards: Yards, node: Node, tmp_path: Path, *, compressed: bool
) -> None:
    del node  # runs the pods
    yard = yards({"twenty": {"action": "argo", "manifest": _twenty(tmp_path)}})
    yard.start()
    uuid = yard.submit("twenty")
    until(lambda: _ended(yard, 1), 200, every=0.3)
    assert _ended(yard, 1) == "FAILED"
    assert _ran(tmp_path) == [*range(1, FAILS + 1)]
    until(lambda: yard.in_cluster() == [], every=0.3)

    if compressed:
        _compress(yard, uuid)
    (tmp_path / "mended").touch()
    yard.database.execute("select switchyard.retrigger(%s, 'ann', 'mended')", uuid)
    until(lambda: _ended(yard, 2), 200, every=0.3)
    assert _ended(yard, 2) == "SUCCESSFUL"
    again = [*range(1, FAILS + 1), FAILS, *range(FAILS + 1, NODES + 1)]
    assert _ran(tmp_path) == sorted(again), "1 to 14 once, the 15th twice, the rest once"
    [(detail,)] = yard.database.execute(
        "select detail from switchyard.event where run = 2 and status = 'QUEUED' and source = 'conductor'"
    )
    assert detail["resumed"]["run"] == 1
    assert detail["resumed"]["nodes"] == FAILS - 1
    assert json.loads(yard.store.get(f"executions/{uuid}/r2/output.json")) == {"from": 1}


def test_from_the_start_everything_runs_again(yards: Yards, node: Node, tmp_path: Path) -> None:
    del node
    yard = yards({"twenty": {"action": "argo", "manifest": _twenty(tmp_path)}})
    yard.start()
    uuid = yard.submit("twenty")
    until(lambda: _ended(yard, 1), 200, every=0.3)
    (tmp_path / "mended").touch()
    until(lambda: yard.in_cluster() == [], every=0.3)
    yard.database.execute("select switchyard.retrigger(%s, 'ann', 'again', resume_from => 'start')", uuid)
    until(lambda: _ended(yard, 2), 200, every=0.3)
    assert _ended(yard, 2) == "SUCCESSFUL"
    assert _ran(tmp_path) == sorted([*range(1, FAILS + 1), *range(1, NODES + 1)])
