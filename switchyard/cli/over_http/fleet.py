"""`switchyard --url …`: inbox and workers."""

from switchyard.cli.inbox import CAUSES, ByCause
from switchyard.cli.options import AsJson
from switchyard.cli.output import print_json
from switchyard.cli.over_http.session import signalbox, timed
from switchyard.cli.table import print_table

INBOX = "since entry kind subject=name status run error note"
WORKERS = "worker_id=worker kind action_name=name host state beat_at=heartbeat done failed rate=per_second"


def inbox(by_cause: ByCause = False, as_json: AsJson = False) -> None:
    """Show what waits for a decision: failed actions, lost workers, messages that could not be read.

    Example: switchyard --url https://jobs.example inbox --by-cause
    """
    with signalbox() as client:
        found = client.get("/causes")["causes"] if by_cause else client.get("/inbox")["entries"]
    if as_json:
        print_json(found)
        return
    for row in found:
        if by_cause:
            row["action_names"] = ", ".join(row["action_names"])
        else:
            row["entry"] = row.get("action_uuid") or row.get("entry_id")
    print_table(timed(found), CAUSES if by_cause else INBOX, "The inbox is empty.", folded=by_cause)


def workers(as_json: AsJson = False) -> None:
    """Show the workers of all programs: state, throughput, and which are lost.

    Example: switchyard --url https://jobs.example workers
    """
    with signalbox() as client:
        found = client.get("/workers")["workers"]
    print_json(found) if as_json else print_table(timed(found), WORKERS, "No workers.")
