"""Where a campaign's items come from: the options, and the source that they name."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from switchyard.campaigns.lines import LinesSource
from switchyard.campaigns.page import Source
from switchyard.campaigns.table import QuerySource
from switchyard.config.secrets import parse_secret
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


FromStac = Annotated[
    str | None, typer.Option(metavar="URL", help="A STAC API: every item that --search finds, as `item`.")
]
Search = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="What to search for: collections, bbox, datetime, query, filter, …"),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="NAME=REF",
        help="Sent to the STAC API; REF is env:NAME or file:/path.",
    ),
]


@dataclass(frozen=True, slots=True)
class Named:
    """The source that the options name."""

    file: Path | None
    query: str | None
    catalogue: str | None
    search: str | None
    headers: list[str] | None = None


def source_of(connection: Any, named: Named) -> Source:
    """The one source that was named."""
    given = [each for each in (named.file, named.query, named.catalogue) if each is not None]
    if len(given) != 1:
        raise BadInput("one of --from-file, --from-sql and --from-stac is needed")
    if named.search is not None and named.catalogue is None:
        raise BadInput("--search is for --from-stac")
    if named.headers and named.catalogue is None:
        raise BadInput("--header is for --from-stac")
    if named.file is not None:
        return LinesSource(named.file)
    if named.query is not None:
        return QuerySource(connection, named.query)
    return _catalogue(str(named.catalogue), named.search, named.headers or [])


def _catalogue(url: str, search: str | None, headers: list[str]) -> Source:
    if search is None:
        raise BadInput('--search is needed: which items, like {"collections": ["sentinel-2-l2a"]}')
    words = json_of("--search", search)
    if not isinstance(words, dict):
        raise BadInput("--search: must be a JSON object")
    # Half a second, and the libraries of the extra `stac`.
    from switchyard.campaigns.catalogue import SearchSource  # noqa: PLC0415

    return SearchSource(url, words, dict(map(_header, headers)))


def _header(text: str) -> tuple[str, str]:
    """A header's name and its secret; a value that is not a reference is not shown."""
    name, separator, reference = text.partition("=")
    if not separator or re.fullmatch(r"[A-Za-z0-9-]{1,100}", name) is None:
        raise BadInput("--header: write NAME=REF, as in Authorization=env:CATALOGUE_TOKEN")
    try:
        value = parse_secret(reference).resolve()
    except ValueError as error:
        raise BadInput(f"--header {name}: {error}") from None
    if not value.isprintable():
        raise BadInput(f"--header {name}: the secret is not one line of printable text")
    return name, value


def json_of(option: str, text: str) -> Any:
    """The value of an option that takes JSON, or @FILE."""
    try:
        return json.loads(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (ValueError, RecursionError, OSError) as error:
        raise BadInput(f"{option}: is not valid JSON: {error}") from error
