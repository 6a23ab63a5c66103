"""Workflows: what can be submitted."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from switchyard.config.callbacks import Callback
from switchyard.config.limits import RunningLimits
from switchyard.config.manifests import Manifest, ManifestFile
from switchyard.config.model import Model
from switchyard.config.names import Name
from switchyard.config.retry import ONCE, RetryPolicy
from switchyard.config.reuse import Reuse
from switchyard.config.schemas import SchemaFile
from switchyard.config.steps import GRAPH, Step, Taken
from switchyard.config.units import Interval


def _text_or_words(value: Any) -> str | tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not words or not all(_is_word(word) for word in words):
        raise ValueError("a template is a text, or a list of texts for a command")
    return value if isinstance(value, str) else tuple(words)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and len(value) <= 10_000


MOST_STEPS = 999  # a graph has 1,000 nodes, and its output is one

TemplateName = Annotated[
    str | tuple[str, ...],
    PlainValidator(_text_or_words),
    PlainSerializer(lambda value: value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Workflow(Model):
    """A long task that a backend runs, and its callbacks."""

    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Its name for people, shown by the HTTP API; without it, the workflow's name."""
    description: Annotated[str, Field(max_length=5000)] | None = None
    """What it does, shown by the HTTP API."""
    version: Annotated[str, Field(min_length=1, max_length=50)] = "1"
    """Its version, shown by the HTTP API."""
    action: Name = GRAPH
    """The action that runs it: one of type argo, cirrus, sqs, local or noop. Not given where it has steps."""
    steps: Annotated[Mapping[Name, Step], Field(max_length=MOST_STEPS)] = {}
    """Instead of an action: other workflows and actions that run as its steps, each after those it names."""
    output: Mapping[str, Taken] = {}
    """Only with steps: what its own output has, by name, taken from the outputs of its steps."""
    template: TemplateName | None = None
    """The WorkflowTemplate, state machine, queue or command, as the action's type has it."""
    manifest: ManifestFile | None = None
    """Argo only, instead of a template: a Workflow written in place, or the path of its YAML or JSON file."""
    timeout: Interval = 86400.0
    """If it has not ended after this time, it becomes TIMED_OUT and is canceled at its backend."""
    retry: RetryPolicy = ONCE
    """How often and when a failed execution is run again; attempts are executions, not dispatches."""
    input_schema: SchemaFile | None = None
    """The JSON Schema that parameters must meet: a path relative to this file, or in place."""
    output_schema: SchemaFile | None = None
    """The JSON Schema that the output must meet, else the workflow ends FAILED."""
    callbacks: tuple[Callback, ...] = ()
    """The callbacks of its end."""
    sync: Annotated[Interval, Field(le=300)] | None = None
    """How long an HTTP request may wait for the results; without it, it is answered with its job."""
    limits: RunningLimits | None = None
    """Limits on concurrent executions at its backend."""
    reuse: Reuse | None = None
    """When results are reused for later actions with the same inputs; without it, never."""

    def callback(self, name: str) -> Callback | None:
        """The callback of that name."""
        return next((callback for callback in self.callbacks if callback.name == name), None)

    def about(self) -> dict[str, Any]:
        """What a caller needs to know of it; announced by conductors."""
        described = {
            "title": self.title,
            "description": self.description,
            "version": self.version,
            "sync": self.sync,
        }
        schemas = {"input": self.input_schema, "output": self.output_schema}
        documents = {name: schema.document for name, schema in schemas.items() if schema is not None}
        return {name: value for name, value in described.items() if value is not None} | documents

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [callback.name for callback in self.callbacks]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two callbacks are called {twice!r}: give each its own name")
        if self.template is not None and self.manifest is not None:
            raise ValueError("give either template or manifest")
        self._check_steps()
        return self

    def _check_steps(self) -> None:
        if (self.action == GRAPH) != bool(self.steps):
            raise ValueError("give either action, which runs it, or steps")
        if self.output and not self.steps:
            raise ValueError("output is only for workflows with steps; others write their own output")
        one = (self.template, self.manifest, self.output_schema, self.limits)
        if self.steps and (any(one) or self.retry != ONCE):
            raise ValueError(
                "template, manifest, retry, output_schema and limits are for workflows that a backend runs"
            )


__all__ = ["Manifest", "Workflow"]
