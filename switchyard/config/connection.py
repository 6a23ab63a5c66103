"""Where the configuration file is, and the part of it that every command needs: the database and the store.

Reading only this part takes a tenth of the time that the whole file takes, needs no library of an extra, and
lets people look at a queue while another section of the file is wrong.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ConfigDict, ValidationError

from switchyard.config.database import Database
from switchyard.config.document import Document, read_document
from switchyard.config.model import Model
from switchyard.config.names import StoreUrl
from switchyard.config.overlay import apply_environment
from switchyard.config.problems import InvalidConfig, Problem
from switchyard.config.trust import refuse_others

FILE = "switchyard.yaml"
VARIABLE = "SWITCHYARD_CONFIG"
ACTIONS = "SWITCHYARD_ACTIONS"


class Connection(Model):
    """The database and the object store."""

    model_config = ConfigDict(extra="ignore")

    database: Database = Database()
    """Where the ledger is."""
    store: StoreUrl = "file:///var/lib/switchyard"
    """Where inputs, outputs and archives are stored."""


def read_connection(path: Path | str | None, environ: Mapping[str, str] | None = None) -> Connection:
    """That part of the file, with what the environment sets; InvalidConfig where it is wrong."""
    surroundings = os.environ if environ is None else environ
    file = find(path, surroundings)
    return _settings(Document("the environment") if file is None else read_document(file), surroundings)


def connection_of_environment(environ: Mapping[str, str] | None = None) -> Connection:
    """What the environment says where there is no file: all defaults where it says nothing."""
    return _settings(Document("the environment"), os.environ if environ is None else environ)


def _settings(document: Document, surroundings: Mapping[str, str]) -> Connection:
    sections = Connection.model_fields
    if not isinstance(document.data, dict):
        document.data = {}
    apply_environment(document, surroundings, sections)
    problems = [problem for problem in document.problems if not problem.path or problem.path[0] in sections]
    if problems:
        raise InvalidConfig(problems)
    try:
        return Connection.model_validate(document.data, by_alias=True, by_name=False)
    except ValidationError as error:
        found = [Problem(tuple(each["loc"]), each["msg"]) for each in error.errors(include_url=False)]
        raise InvalidConfig([each.at(document.place_of(each.path)) for each in found]) from None


def find(path: Path | str | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read; None where there is none and the environment names actions.

    InvalidConfig names where it was looked for.
    """
    if path is not None:
        return Path(path)
    named = environ.get(VARIABLE)
    if named:
        return Path(named)
    if Path(FILE).is_file():
        refuse_others(Path(FILE), f"name it with -c or {VARIABLE} if you trust it", private=False)
        return Path(FILE)
    if any(name.upper().startswith(ACTIONS) for name in environ):
        return None
    raise InvalidConfig([Problem((), not_found())])


def not_found() -> str:
    """Where the configuration was looked for."""
    return f"no configuration was found in {Path.cwd()}: give -c FILE, set {VARIABLE}, or write ./{FILE}"
