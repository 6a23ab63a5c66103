"""What every part of the configuration has in common: it never changes, and it knows all of its keys."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """One mapping of the file. Unknown keys are errors, and errors never repeat what was written."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        populate_by_name=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        protected_namespaces=(),
        serialize_by_alias=True,
    )
