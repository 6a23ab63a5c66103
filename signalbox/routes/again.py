"""Running a job again with changes: the form of its process, filled in with the job's inputs."""

from uuid import UUID

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.processes import ProcessDescription
from signalbox.routes.jobs import known_job
from signalbox.routes.processes import process


@get("/jobs/{job}/again", Role.SUBMITTER, template="process", parts=("job", "inputs"))
async def again(call: Call, job: UUID) -> ProcessDescription:
    """The process of a job; its page has a form for a new job with the inputs of this one."""
    return await process(call, (await known_job(call, job))["process_id"])
