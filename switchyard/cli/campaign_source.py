"""Where a campaign's items come from: the options, and the source that they name."""

from pathlib import Path
from typing import Annotated, Any

import typer

from switchyard.campaigns.lines import LinesSource
from switchyard.campaigns.page import Source
from switchyard.campaigns.table import QuerySource
from switchyard.errors import BadInput

FromFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A file of JSON lines: one object per item, its parameters, with an id."
    ),
]
FromSql = Annotated[
    str | None,
    typer.Option(metavar="QUERY", help="A SQL query with a column id; its columns are the parameters."),
]


def source_of(connection: Any, from_file: Path | None, from_sql: str | None) -> Source:
    """The one source that was named."""
    if from_file is not None and from_sql is None:
        return LinesSource(from_file)
    if from_sql is not None and from_file is None:
        return QuerySource(connection, from_sql)
    raise BadInput("one of --from-file and --from-sql is needed")
