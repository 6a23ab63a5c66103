"""Steps: a workflow that is a graph of other workflows and actions."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_serializer, model_validator

from switchyard.config.expressions import JsonPath
from switchyard.config.model import Model
from switchyard.config.names import Name, PlainText

GRAPH = "graph"
"""The action name of workflows with steps, and the only type that it may have."""
RESERVED = frozenset({GRAPH, "campaign"})
"""Action names of the ledger's own: actions that have members."""
OUTPUT = "output"
"""The step that puts the workflow's own output together."""


class Taken(Model):
    """A value that is taken from the output of a step, or from the parameters of the workflow."""

    from_: Annotated[Name | None, Field(alias="from")] = None
    """The step whose output it is taken from; without it, the workflow's own parameters."""
    path: JsonPath
    """Where to look: in {output}, the step's output.json, or in {input}, the workflow's parameters."""
    default: JsonValue = None
    """The value where the path finds nothing; without it, that is an error."""

    @model_serializer
    def document(self) -> dict[str, JsonValue]:
        """As `submit_graph` takes it: with a default only where one was given, which may be null."""
        given: dict[str, JsonValue] = {"path": self.path}
        if self.from_ is not None:
            given["from"] = self.from_
        if "default" in self.model_fields_set:
            given["default"] = self.default
        return given


class Step(Model):
    """One step of a workflow: another workflow, or an action."""

    workflow: Name | None = None
    """The workflow that it runs."""
    action: Name | None = None
    """The action name, if it is not a workflow."""
    after: tuple[Name, ...] = ()
    """The steps that must have ended before it starts, beside those that `inputs` names."""
    policy: Literal["successful", "ended"] = "successful"
    """`successful`: cancel this step unless all of them succeed; `ended`: start it anyway."""
    parameters: Mapping[str, JsonValue] = {}
    """Its parameters, as they are written here."""
    inputs: Mapping[str, Taken] = {}
    """More parameters: taken from the outputs of other steps, or from the workflow's own parameters."""
    priority: Annotated[int, Field(ge=-32768, le=32767)] | None = None
    """A lower number runs first; default: the workflow's priority."""
    lane: PlainText | None = None
    """Its lane; without it, the workflow's lane."""

    @property
    def edges(self) -> frozenset[str]:
        """The steps that it waits for."""
        return frozenset(self.after) | sources(self.inputs)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.workflow is None) == (self.action is None):
            raise ValueError("give either workflow or action")
        return self


def sources(taken: Mapping[str, Taken]) -> frozenset[str]:
    """The steps that these values are taken from."""
    return frozenset(each.from_ for each in taken.values() if each.from_ is not None)
