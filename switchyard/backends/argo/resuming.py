"""Makes the Workflow of a run that resumes: from the archive of the run before, with the files it left."""

import json
from typing import Any

from switchyard.backends.argo.continuing import NothingToContinue, continued
from switchyard.backends.argo.nodes import NodesError
from switchyard.backends.carry_over import carry_over
from switchyard.errors import StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.store import Store

LARGEST = 16 * 1024 * 1024  # of an archived Workflow; etcd takes a tenth of it


def resume(store: Store, places: Places, body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The Workflow, and the detail of the hand-over: what it continues, or why it starts over."""
    before = Places(places.uuid, places.run - 1)
    try:
        archived = json.loads(store.get(before.workflow, limit=LARGEST))
        made, nodes = continued(archived, body)
        files = carry_over(store, places, everything=True)
    except StoreMissing:
        return body, _from_start("the run before was not archived")
    except (NothingToContinue, NodesError, StoreTooLarge) as reason:
        return body, _from_start(str(reason))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return body, _from_start(f"the archive of the run before cannot be read: {type(error).__name__}")
    note = f"continues run {before.run}: {nodes} of its nodes do not run again"
    return made, {"resumed": {"run": before.run, "nodes": nodes, "files": files}, "note": note}


def _from_start(reason: str) -> dict[str, Any]:
    return {"note": f"runs from the start: {reason}"}
