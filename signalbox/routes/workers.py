"""Workers."""

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.operations import Worker, WorkerList
from switchyard.ledger.queries import query as named


@get("/workers", Role.READER, template="workers")
async def workers(call: Call) -> WorkerList:
    """The workers, except those that were shut down in order."""
    rows = await call.rows(named("look", "fleet"), {"all": False})
    return WorkerList(workers=[Worker(**{key: row[key] for key in Worker.model_fields}) for row in rows])
