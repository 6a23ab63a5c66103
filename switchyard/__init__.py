"""Switchyard: runs and tracks long workflows and their callbacks, with Postgres as the queue.

    from switchyard import Switchyard

The names of the Python API are imported when they are first used, so that `import switchyard` costs nothing.

The packages, in the order in which an action meets them:

    client/, remote/   the Python API on the database, and on the HTTP API; cli/ is the command
    submit/            checks a submission and calls the SQL function that stores it
    ledger/            connections, queries, migrations; the rules are SQL, in migrations/current/
    backends/          one folder per backend: the handler that conductor calls, the source that caboose asks
    store/             input, output and archives of executions; places.py says where
    process/           what long-running programs share: loops, heartbeats, health, logs, metrics
    config/            the configuration file
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchyard.client.asynchronous import AsyncSwitchyard
    from switchyard.client.blocking import Switchyard
    from switchyard.client.output import File, Results
    from switchyard.client.records import Event, Graph, Thread
    from switchyard.remote import connect, connect_async
    from switchyard.status import Status
    from switchyard.submit.submission import Submission

__version__ = "0.1.0"

_PLACES = {
    "AsyncSwitchyard": "switchyard.client.asynchronous",
    "Event": "switchyard.client.records",
    "File": "switchyard.client.output",
    "Results": "switchyard.client.output",
    "Status": "switchyard.status",
    "Submission": "switchyard.submit.submission",
    "Switchyard": "switchyard.client.blocking",
    "Graph": "switchyard.client.records",
    "Thread": "switchyard.client.records",
    "connect": "switchyard.remote",
    "connect_async": "switchyard.remote",
}

__all__ = [
    "AsyncSwitchyard",
    "Event",
    "File",
    "Graph",
    "Results",
    "Status",
    "Submission",
    "Switchyard",
    "Thread",
    "connect",
    "connect_async",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
