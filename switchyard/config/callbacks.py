"""The configuration of callbacks."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema, model_serializer, model_validator

from switchyard.config.expressions import JsonPath
from switchyard.config.model import Model
from switchyard.config.names import Name
from switchyard.config.problems import nearest
from switchyard.status import ENDS, Status

UNSUCCESSFUL = frozenset(ENDS - {Status.SUCCESSFUL})
EVERY_FAILURE = "failed"
ITEMS = "$.output.features[*]"
_WORDS = (*sorted(ENDS), EVERY_FAILURE)


def _check_end(word: str) -> str:
    if word in _WORDS:
        return word
    raise ValueError(f"{word!r} is not a final status{nearest(word, _WORDS)}; there are {', '.join(_WORDS)}")


End = Annotated[str, AfterValidator(_check_end), WithJsonSchema({"enum": list(_WORDS)})]


def ends_of(words: tuple[str, ...]) -> frozenset[Status]:
    """The statuses that a list of words means: `failed` is every unsuccessful end."""
    named = {Status(word) for word in words if word != EVERY_FAILURE}
    return frozenset(named | (UNSUCCESSFUL if EVERY_FAILURE in words else frozenset()))


class Value(Model):
    """A literal value, or what a JSONPath finds in {input, output, workflow, item}."""

    value: JsonValue = None
    """The literal."""
    path: JsonPath | None = None
    """Where to look: one thing where the path can find only one, else a list; none gives `default`."""
    default: JsonValue = None
    """The value where the path finds nothing."""

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if ("value" in self.model_fields_set) == (self.path is not None):
            raise ValueError("give either value (a literal) or path (a JSONPath)")
        if self.path is None and self.default is not None:
            raise ValueError("default is for a path that finds nothing; a literal value needs none")
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {"value": self.value} if self.path is None else {"path": self.path, "default": self.default}


class Callback(Model):
    """One callback of a workflow, or of a single action that was submitted with its own."""

    name: Name
    """Its name, unique within its workflow."""
    action: Name
    """The action to submit."""
    workflow: Name | None = None
    """The workflow to start, if it chains one."""
    when: Annotated[tuple[End, ...], Field(min_length=1)] | None = None
    """Only after one of these ends; `failed` means every unsuccessful one. Without it: after any."""
    when_not: Annotated[tuple[End, ...], Field(min_length=1)] | None = None
    """After any end but these."""
    for_: Annotated[Literal["summary", "items"], Field(alias="for")] = "summary"
    """`summary`: once; `items`: once for each item of the output."""
    items: JsonPath | None = None
    """The items for `for: items`; default: `$.output.features[*]`."""
    parameters: Mapping[str, Value] = {}
    """The action's parameters."""
    input: Value | None = None
    """The whole input of the chained workflow, instead of `parameters`."""
    priority: Annotated[int, Field(ge=-32768, le=32767)] | None = None
    """The priority of the callback's action; without it, its parent's."""

    @property
    def ends(self) -> frozenset[Status]:
        """The ends after which it is made."""
        if self.when is not None:
            return ends_of(self.when)
        return ENDS - ends_of(self.when_not or ())

    @property
    def items_path(self) -> str:
        """The JSONPath of the items."""
        return self.items or ITEMS

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.when is not None and self.when_not is not None:
            raise ValueError("give either when or when_not")
        if not self.ends:
            raise ValueError("when_not names every end, so nothing is left to follow")
        if self.items is not None and self.for_ != "items":
            raise ValueError("items needs for: items")
        if self.input is not None and (self.workflow is None or self.parameters):
            raise ValueError("input is for a chained workflow (name it with workflow), instead of parameters")
        return self
