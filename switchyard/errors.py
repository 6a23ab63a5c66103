"""All errors, in one tree. Messages are written for people and contain no secrets.

SwitchyardError                 1
├── ConfigError                78  the configuration or the machine has to change first
│   ├── NotDirect              78  a transaction-pooling proxy is between us and Postgres
│   ├── NotMigrated            78  the database has no ledger of this version
│   ├── AddressInUse           78  another process has the port
│   └── EmbeddedPostgresError  78  a Postgres of one's own cannot start here
├── BadInput                   65  the same input never works
│   ├── NoSuchAction           65  the ledger has no action of that id
│   ├── LimitExceeded          65  an evaluation took more time or memory than it may
│   └── EvaluationFailed       65  an evaluation raised an error
├── WaitTimeout                75  also TimeoutError: the action had not ended in time
├── Transient                  75  the same again may work later
│   ├── PoolUnavailable        75  too many evaluations are waiting, or none can be started
│   ├── DatabaseUnavailable    75
│   └── ClusterUnreachable     75  the Kubernetes API gave no answer
├── RefusedError                1  the Kubernetes API refused (switchyard/backends/kubernetes/answer.py)
└── StoreError                  1  the object store refused
    ├── StoreMissing            1  there is no such object
    ├── StoreUnavailable       75  also Transient: full disk, time-out, throttling
    ├── StoreBadKey            65  also BadInput: a key that no store takes
    └── StoreTooLarge          65  also BadInput: larger than the caller's limit

A program ends with the `exit_code` of an uncaught error; `transient` errors may be retried.
"""

from typing import ClassVar
from uuid import UUID

from switchyard.process.exit import Exit


class SwitchyardError(Exception):
    """Anything that we raise on purpose."""

    exit_code: ClassVar[Exit] = Exit.FAILURE
    transient: ClassVar[bool] = False


class ConfigError(SwitchyardError):
    """The configuration, or the machine, has to change before this can work."""

    exit_code = Exit.CONFIG


class NotDirect(ConfigError):
    """A transaction-pooling proxy is in between: session locks do not survive it."""


class NotMigrated(ConfigError):
    """The database has no ledger of this version: `switchyard migrate` makes one."""


class AddressInUse(ConfigError):
    """Another process listens on the address already."""


class EmbeddedPostgresError(ConfigError):
    """The embedded Postgres cannot be started or stopped; the message contains the remedy."""


class BadInput(SwitchyardError):
    """The input is wrong: trying again cannot help."""

    exit_code = Exit.BAD_INPUT


class NoSuchAction(BadInput):
    """The ledger has no action of that id: it was never submitted, or its partition was dropped."""

    def __init__(self, uuid: UUID) -> None:
        super().__init__(uuid)
        self.uuid = uuid

    def __str__(self) -> str:
        return f"there is no action {self.uuid}"


class LimitExceeded(BadInput):
    """An evaluation exceeded a limit: "CPU time", "elapsed time", "memory", "result", "depth" or "crash"."""

    def __init__(self, function: str, limit: str) -> None:
        super().__init__(function, limit)
        self.limit = limit

    def __str__(self) -> str:
        function, limit = self.args
        if limit == "crash":
            return f"{function} ended its process twice"
        return f"{function} exceeded its limit of {limit}"


class EvaluationFailed(BadInput):
    """An evaluation raised an error; `kind` is the name of its class."""

    def __init__(self, function: str, kind: str, message: str) -> None:
        super().__init__(function, kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.kind}: {self.message}"


class Transient(SwitchyardError):
    """The same again may work later."""

    exit_code = Exit.TRANSIENT
    transient = True


class WaitTimeout(SwitchyardError, TimeoutError):
    """`wait` gave up; the action goes on."""

    exit_code = Exit.TRANSIENT
    transient = True


class PoolUnavailable(Transient):
    """Too many evaluations are waiting, or none can be started now."""


class DatabaseUnavailable(Transient):
    """Postgres cannot be reached, or does not take writes now."""


class ClusterUnreachable(Transient):
    """The Kubernetes API gave no answer; what was asked may have been done all the same."""


class StoreError(SwitchyardError):
    """The object store refused, for a reason that stays."""


class StoreMissing(StoreError):
    """There is no object of that key."""


class StoreUnavailable(StoreError, Transient):
    """The object store cannot do it now."""

    exit_code = Exit.TRANSIENT
    transient = True


class StoreBadKey(StoreError, BadInput):
    """A key that leaves the store, or that no store could hold."""

    exit_code = Exit.BAD_INPUT


class StoreTooLarge(StoreError, BadInput):
    """The object is larger than the caller was ready to take."""

    exit_code = Exit.BAD_INPUT
