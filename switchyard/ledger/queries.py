"""Named queries, read from the `.sql` files beside this one.

A file holds one concept; `-- name: purpose` opens each query in it. Parameters are psycopg's `%(name)s`.
A line `-- include name` is replaced by another part of the same file.
"""

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_OPENING = re.compile(r"^-- (\w+): .+$", re.MULTILINE)
_INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)


@cache
def queries(concept: str) -> dict[str, LiteralString]:
    """The queries of `queries/<concept>.sql`, by name."""
    text = (files(__package__) / "queries" / f"{concept}.sql").read_text()
    parts = _OPENING.split(text)[1:]
    found = dict(zip(parts[::2], (part.strip().removesuffix(";") for part in parts[1::2]), strict=True))
    found = {name: _INCLUDE.sub(lambda line: found[line[1]], part) for name, part in found.items()}
    # They come from our own package, as literal as the code itself.
    return cast("dict[str, LiteralString]", found)


def query(concept: str, name: str) -> LiteralString:
    """One query, by its file and name."""
    return queries(concept)[name]
