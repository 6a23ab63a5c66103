"""The database: where it is, and the schema that the ledger lives in."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from switchyard.config.model import Model
from switchyard.config.secrets import SecretOrText, SecretRef
from switchyard.config.units import Interval

_PASSWORD = re.compile(r"(?i)://[^/@]*:[^/@]*@|[?&\s]password\s*=|^\s*password\s*=")


def _no_password(value: SecretRef | str) -> SecretRef | str:
    if isinstance(value, SecretRef):
        return value
    if _PASSWORD.search(value):
        raise ValueError("a password must not stand in the file: write env:DATABASE_URL or use PGPASSFILE")
    if not value.startswith(("postgresql://", "postgres://")) and "=" not in value:
        raise ValueError("a database is written like env:DATABASE_URL or postgresql://host/name")
    return value


class Database(Model):
    """The one database. What is not given here comes from libpq's own PG* variables."""

    url: Annotated[SecretOrText, AfterValidator(_no_password)] | None = None
    """A reference like env:DATABASE_URL, or an address without a password; without it, PG* alone."""
    schema_name: Annotated[str, Field(alias="schema", pattern=r"^[a-z_][a-z0-9_]{0,62}$")] = "switchyard"
    """The schema of the ledger."""
    connect_timeout: Interval = 10.0
    """How long one attempt to connect may take."""

    def conninfo(self, environ: Mapping[str, str] | None = None) -> str:
        """What psycopg connects to; it may hold a password, so it is for psycopg alone."""
        if isinstance(self.url, SecretRef):
            return self.url.resolve(environ)
        return self.url or ""
