"""From psycopg's errors to ours, and no password in any of them."""

import psycopg
import pytest
from psycopg import errors

from switchyard.errors import BadInput, ConfigError, DatabaseUnavailable, NotMigrated, SwitchyardError
from switchyard.ledger.connect import connect_sync, conninfo
from switchyard.ledger.errors import blames_row, is_blocked, translated, unavailable
from switchyard.process.redact import redact


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.InvalidSchemaName, NotMigrated),
        (errors.UndefinedTable, NotMigrated),
        (errors.UndefinedColumn, NotMigrated),
        (errors.UndefinedFunction, NotMigrated),
        (errors.InsufficientPrivilege, ConfigError),
        (errors.SyntaxError, BadInput),
        (errors.NumericValueOutOfRange, BadInput),
        (errors.UniqueViolation, BadInput),
        (errors.ProgramLimitExceeded, BadInput),
        (errors.ReadOnlySqlTransaction, DatabaseUnavailable),
        (errors.DeadlockDetected, DatabaseUnavailable),
        (errors.DiskFull, DatabaseUnavailable),
        (errors.LockNotAvailable, DatabaseUnavailable),
        (errors.AdminShutdown, DatabaseUnavailable),
        (errors.InvalidPassword, DatabaseUnavailable),
        (psycopg.OperationalError, DatabaseUnavailable),
        (errors.InternalError_, SwitchyardError),
    ],
)
def test_each_class_of_sqlstate_has_one_meaning(
    error: type[psycopg.Error], kind: type[SwitchyardError]
) -> None:
    assert type(translated(error("it is so"))) is kind


def test_an_error_without_a_text_has_its_name() -> None:
    assert str(translated(errors.DiskFull())) == "DiskFull"


def test_a_ledger_of_another_version_states_what_to_do() -> None:
    assert "switchyard migrate" in str(translated(errors.UndefinedTable("no such table")))


def test_what_one_statement_did_wrong_stays_what_it_is() -> None:
    with pytest.raises(errors.UniqueViolation), unavailable():
        raise errors.UniqueViolation("twice")
    with pytest.raises(DatabaseUnavailable), unavailable():
        raise errors.DeadlockDetected("both")


def test_which_errors_blame_a_row_and_which_pass() -> None:
    assert blames_row(errors.NumericValueOutOfRange())
    assert not blames_row(errors.LockNotAvailable())
    assert is_blocked(errors.LockNotAvailable())
    assert is_blocked(errors.QueryCanceled())
    assert not is_blocked(errors.AdminShutdown())
    assert not is_blocked(psycopg.OperationalError())


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://svc:Tr0ub%zzdor3@h/db",
        "postgresql://svc:Tr0ub zzdor3@h/db",
        "mysql://svc:Tr0ubzzdor3@h/db",
        "host=h password=Tr0ub zzdor3",
        "host=h password='Tr0ubzzdor3",
    ],
)
def test_security_m5_an_address_that_cannot_be_read_is_not_quoted(address: str) -> None:
    with pytest.raises(ConfigError, match="the address of the database cannot be read") as raised:
        conninfo(address, "test")
    assert raised.value.__suppress_context__
    assert "dor3" not in str(raised.value)


@pytest.mark.parametrize("sign", ["@", "/", ":", "?"])
def test_security_m5_a_password_that_is_misread_is_masked(sign: str) -> None:
    secret = f"Tr0ub{sign}zzdor3{sign}x"
    with pytest.raises(SwitchyardError) as raised:
        connect_sync(f"postgresql://svc:{secret}@127.0.0.1:1/db", application_name="test")
    assert "Tr0ub" not in str(raised.value)
    assert "zzdor3" not in str(raised.value)


def test_security_m5_passwords_are_masked_however_they_are_written() -> None:
    conninfo("postgresql://svc:p%40ss-in-url@h/db", "test")
    conninfo("host=h password='quo ted-one'", "test")
    assert redact("p@ss-in-url p%40ss-in-url quo ted-one") == "[redacted] [redacted] [redacted]"
