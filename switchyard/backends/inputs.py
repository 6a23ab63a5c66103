"""Inputs of a node of a graph that are outputs of other nodes.

When the wait of such a node is over, the database puts into its parameters, under `$inputs`, which run of
which action each is taken from, and by which path (settle_one in migrations/current/waiting.sql). No
submission can contain that key, so a submission cannot refer to the outputs of others.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from switchyard.backends.threads import Threads
from switchyard.errors import BadInput
from switchyard.places import Places
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool
from switchyard.store import Store

INPUTS = "$inputs"
MOST = 16 * 1024 * 1024  # bytes of an output that inputs are taken from


async def with_inputs(
    parameters: Mapping[str, Any], store: Store, threads: Threads, group: str
) -> dict[str, Any]:
    """The parameters with their inputs in place; BadInput where a path finds nothing and has no default."""
    found = {name: value for name, value in parameters.items() if name != INPUTS}
    wanted: dict[str, dict[str, Any]] = parameters.get(INPUTS, {})
    sources = {(each["from"], each["run"]) for each in wanted.values()}
    for action, run in sorted(sources):
        names = [name for name, each in wanted.items() if (each["from"], each["run"]) == (action, run)]
        output = await threads.run(store.get, Places(UUID(action), run).output, MOST)
        paths = [wanted[name]["path"] for name in names]
        values = await shared_pool().run(evaluate.paths, paths, b'{"output":' + output + b"}", group=group)
        for name, value in zip(names, values, strict=True):
            where = f"input {name}: {wanted[name]['path']} in the output of {action}"
            found[name] = value_of(where, wanted[name], *value)
    return found


def value_of(
    where: str, wanted: Mapping[str, Any], values: list[Any], single: bool, wrong: str | None
) -> Any:
    """What a path found, a list where it can find several; BadInput without that and a default."""
    if wrong is not None:
        raise BadInput(f"{where}: {wrong}")
    if not single:
        return values
    if not values and "default" not in wanted:
        raise BadInput(f"{where} finds nothing, and there is no default")
    return values[0] if values else wanted["default"]
