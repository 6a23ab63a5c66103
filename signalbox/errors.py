"""From any error to an HTTP problem. No message carries a parameter or a secret."""

import psycopg
from starlette.exceptions import HTTPException

from signalbox.problem import OGC, HttpProblem
from switchyard.errors import (
    BadInput,
    DatabaseUnavailable,
    NotMigrated,
    StoreMissing,
    StoreUnavailable,
    SwitchyardError,
)
from switchyard.ledger.errors import translated
from switchyard.process.log import get_logger

log = get_logger(__name__)

# By SQLSTATE: errors that our functions raise on purpose, and those of the database's own rules.
BY_STATE = {
    "42501": 403,  # the caller's database role lacks the privilege
    "P0002": 404,  # no_data_found
    "55000": 409,  # object_not_in_prerequisite_state
    "23505": 409,  # unique_violation: an idempotency key that was used for something else
}
READ_ONLY = "25006"
# The server refused the value of a setting; a request sets only the role. Messages may be translated.
SETTING = "call_string_check_hook"
NO_ROLE = (
    "this server's database user cannot take your role: run `switchyard migrate`, and grant it the roles"
)
LATER = {"Retry-After": "5"}


def problem_of(error: Exception) -> HttpProblem:
    """The problem document that is sent to the caller."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, HTTPException):
        return _of_starlette(error)
    if isinstance(error, psycopg.Error):
        return _of_database(error)
    if isinstance(error, SwitchyardError):
        return _of_ours(error)
    log.error("a request failed", error=type(error).__name__, exc_info=error)
    return HttpProblem(500, "an unexpected error; the log of the server has the details")


def _of_starlette(error: HTTPException) -> HttpProblem:
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return HttpProblem(
            404, "there is nothing at this address", kind=OGC + "no-such-resource", headers=headers
        )
    return HttpProblem(error.status_code, error.detail, headers=headers)


def _of_database(error: psycopg.Error) -> HttpProblem:
    ours = translated(error)
    if error.diag.source_function == SETTING:
        log.error("the role of a caller cannot be taken", error=str(ours))
        return HttpProblem(503, NO_ROLE)
    status = BY_STATE.get(error.sqlstate or "")
    if status == 403:
        return HttpProblem(403, "the database refuses this to your role")
    if error.sqlstate == READ_ONLY:
        return HttpProblem(503, "the database is read-only now: nothing can be changed", headers=LATER)
    if status is not None:
        return HttpProblem(status, str(ours))
    return _of_ours(ours)


def _of_ours(error: SwitchyardError) -> HttpProblem:
    if isinstance(error, DatabaseUnavailable):
        log.warning("the database is not available", error=str(error))
        return HttpProblem(503, "the database is not available now", headers=LATER)
    if isinstance(error, NotMigrated):
        log.error("the database has another schema", error=str(error))
        return HttpProblem(503, "the database has no ledger of this version: run `switchyard migrate`")
    if isinstance(error, StoreUnavailable):
        log.warning("the object store is not available", error=str(error))
        return HttpProblem(503, "the object store is not available now", headers=LATER)
    if isinstance(error, StoreMissing):
        return HttpProblem(404, "the object store has no such object")
    if isinstance(error, BadInput):
        return HttpProblem(422, str(error))
    log.error("a request failed", error=type(error).__name__, exc_info=error)
    return HttpProblem(500, "an unexpected error; the log of the server has the details")
