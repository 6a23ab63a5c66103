"""Workflows: what can be submitted."""

from typing import Annotated, Any, Self

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from switchyard.config.callbacks import Callback
from switchyard.config.limits import RunningLimits
from switchyard.config.manifests import Manifest, ManifestFile
from switchyard.config.model import Model
from switchyard.config.names import Name
from switchyard.config.retry import ONCE, RetryPolicy
from switchyard.config.schemas import SchemaFile
from switchyard.config.units import Interval


def _text_or_words(value: Any) -> str | tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not words or not all(_is_word(word) for word in words):
        raise ValueError("a template is a text, or a list of texts for a command")
    return value if isinstance(value, str) else tuple(words)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and len(value) <= 10_000


TemplateName = Annotated[
    str | tuple[str, ...],
    PlainValidator(_text_or_words),
    PlainSerializer(lambda value: value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Workflow(Model):
    """Something long that a backend runs, and what follows it."""

    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Its name for people, shown by the HTTP API; without it, the workflow's name."""
    description: Annotated[str, Field(max_length=5000)] | None = None
    """What it does, shown by the HTTP API."""
    version: Annotated[str, Field(min_length=1, max_length=50)] = "1"
    """Its version, shown by the HTTP API."""
    action: Name
    """The action that runs it: one of type argo, cirrus, sqs, local or noop."""
    template: TemplateName | None = None
    """The WorkflowTemplate, state machine, queue or command, as the action's type has it."""
    manifest: ManifestFile | None = None
    """Argo only, instead of a template: a Workflow written in place, or the path of its YAML or JSON file."""
    timeout: Interval = 86400.0
    """After this time without an end it is TIMED_OUT, and canceled at its backend."""
    retry: RetryPolicy = ONCE
    """When a failed execution runs again; attempts are executions, not dispatches."""
    input_schema: SchemaFile | None = None
    """The JSON Schema that parameters must meet: a path relative to this file, or in place."""
    output_schema: SchemaFile | None = None
    """The JSON Schema that the output must meet, else the workflow ends FAILED."""
    callbacks: tuple[Callback, ...] = ()
    """What follows its end."""
    limits: RunningLimits | None = None
    """How many executions its backend may have at once."""

    def callback(self, name: str) -> Callback | None:
        """The callback of that name."""
        return next((callback for callback in self.callbacks if callback.name == name), None)

    def about(self) -> dict[str, Any]:
        """What a caller needs to know of it; announced by conductors."""
        described = {"title": self.title, "description": self.description, "version": self.version}
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
        return self


__all__ = ["Manifest", "Workflow"]
