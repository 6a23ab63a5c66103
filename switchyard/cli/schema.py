"""`switchyard schema`: the JSON Schema of the configuration, for editors."""

import json
from typing import Annotated

import typer

from switchyard.config.published import Schema, installed_schema
from switchyard.config.reference import reference


def schema(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a reference for people instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of the configuration, with the types that installed packages bring.

    Example: switchyard schema > switchyard.schema.json, and as the first line of switchyard.yaml
    `# yaml-language-server: $schema=switchyard.schema.json`
    """
    print(reference() if markdown else as_text(installed_schema()), end="")


def as_text(published: Schema) -> str:
    """As it is committed in config/schema.json."""
    return json.dumps(published, indent=2, ensure_ascii=False) + "\n"
