"""Where an execution's files are in the object store, and which addresses the work is given.

Every run has its own folder. The work is given two URLs: of its input, and of that folder, under which
it writes `output.json` and whatever files the output names. The same two go to local processes and pods by
environment, to Argo by parameter, to Step Functions and SQS in the message.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Places:
    """The keys of one run. Callbacks that leave files have the same places in a folder of their own."""

    uuid: UUID
    run: int
    kind: str = "executions"

    @classmethod
    def of_output(cls, uuid: UUID, run: int, reused: Mapping[str, Any] | None) -> Self:
        """Where the results of a run are: its own folder, or that of the run whose result it reused.

        `reused` is what the SQL function of that name answers.
        """
        return cls(uuid, run) if reused is None else cls(UUID(reused["action"]), reused["run"])

    @property
    def folder(self) -> str:
        """The prefix of all of them, without a slash at its end."""
        return f"{self.kind}/{self.uuid}/r{self.run}"

    @property
    def input(self) -> str:
        """The action's parameters, written before the submit."""
        return f"{self.folder}/input.json"

    @property
    def output(self) -> str:
        """What the work wrote."""
        return f"{self.folder}/output.json"

    @property
    def workflow(self) -> str:
        """The whole resource, state or exit record; written once, before its event is recorded."""
        return f"{self.folder}/workflow.json"

    @property
    def log(self) -> str:
        """The output of the work, where the backend has it."""
        return f"{self.folder}/log.txt"

    @property
    def cancel(self) -> str:
        """Asks a worker to stop."""
        return f"{self.folder}/cancel"


# Replaces parameters that are too large for the ledger: they are stored at `parameters_key`.
STORED = {"switchyard:parameters": "stored"}


def parameters_key(uuid: UUID) -> str:
    """Where a chained workflow's parameters are, if not in its action: named by its uuid alone."""
    return f"callbacks/{uuid}/parameters.json"


def variables(places: Places, correlation_id: str | None, url_of: Callable[[str], str]) -> dict[str, str]:
    """What a program receives about its work, by name: action-uuid, run, input, output, correlation-id."""
    return {
        "action-uuid": str(places.uuid),
        "run": str(places.run),
        "input": url_of(places.input),
        "output": url_of(places.folder),
        "correlation-id": correlation_id or "",
    }


def environment(places: Places, correlation_id: str | None, url_of: Callable[[str], str]) -> dict[str, str]:
    """The same as environment variables: SWITCHYARD_ACTION_UUID, _RUN, _INPUT, _OUTPUT, _CORRELATION_ID."""
    pairs = variables(places, correlation_id, url_of).items()
    return {f"SWITCHYARD_{name.upper().replace('-', '_')}": value for name, value in pairs}
