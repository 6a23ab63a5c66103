"""The database: where it is, and the schema that the ledger lives in."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from switchyard.config.model import Model
from switchyard.config.secrets import SecretOrText, SecretRef

SCHEMA = "switchyard"
_PASSWORD = re.compile(r"(?i)://[^/@]*:[^/@]*@|[?&\s]password\s*=|^\s*password\s*=")


def _no_password(value: SecretRef | str) -> SecretRef | str:
    if isinstance(value, SecretRef):
        return value
    if _PASSWORD.search(value):
        raise ValueError("the file must not contain a password: write env:DATABASE_URL or use PGPASSFILE")
    if not value.startswith(("postgresql://", "postgres://")) and "=" not in value:
        raise ValueError("a database is written like env:DATABASE_URL or postgresql://host/name")
    return value


def _the_one_schema(value: str) -> str:
    if value != SCHEMA:
        raise ValueError(
            f"the ledger's schema is always {SCHEMA}: its functions and roles are named with it; "
            "put a second ledger into a second database"
        )
    return value


_ONE = WithJsonSchema({"const": SCHEMA})


class Database(Model):
    """The database. Settings that are missing here come from libpq's PG* variables."""

    url: Annotated[SecretOrText, AfterValidator(_no_password)] | None = None
    """A reference like env:DATABASE_URL, or an address without a password; by default PG* variables."""
    schema_name: Annotated[str, Field(alias="schema"), AfterValidator(_the_one_schema), _ONE] = SCHEMA
    """The schema of the ledger, always `switchyard`; a second ledger goes into a second database."""

    def conninfo(self, environ: Mapping[str, str] | None = None) -> str:
        """What psycopg connects to; it may hold a password, so it is for psycopg alone."""
        if isinstance(self.url, SecretRef):
            return self.url.resolve(environ)
        return self.url or ""
