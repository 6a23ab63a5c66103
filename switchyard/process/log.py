"""Logs: one line per event on stderr, as JSON or as readable text, with ids on every line.

Our own log lines and those of libraries (stdlib logging) take the same path: ids from the context, level,
time, exceptions as text, secrets masked, then rendered. A value in a line cannot forge another line. If
logging is not configured (our code used as a library), only warnings and errors are written, to stderr.
"""

import atexit
import logging
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger, Processor, WrappedLogger

from switchyard.errors import ConfigError
from switchyard.process.redact import redact_value
from switchyard.process.sink import Sink

IDS = ("correlation_id", "action_uuid")
LEVELS = ("debug", "info", "warning", "error", "critical")
# Chatty at info, and of no use to an operator.
_QUIET = ("asyncio", "alembic", "boto3", "botocore", "kubernetes", "s3transfer", "urllib3")
# Control characters could move the cursor or start a line of their own; an exception may have its new lines.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_IN_BLOCK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

EventDict = MutableMapping[str, Any]


SINK = Sink()


class _Stderr(logging.Handler):
    """Writes to the current stderr, because tests and daemons replace it after the configuration."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            SINK.write(self.format(record) + "\n")
        except Exception:  # noqa: BLE001 - a line that cannot be shown must not end what it is about
            self.handleError(record)


def configure(*, json: bool | None = None, level: str = "info") -> None:
    """Set up logging for this process. `json=None`: readable on a terminal, JSON lines otherwise."""
    if level.lower() not in LEVELS:
        raise ConfigError(f"log level {level!r} is not one of {', '.join(LEVELS)}")
    number = logging.getLevelNamesMapping()[level.upper()]
    as_json = not sys.stderr.isatty() if json is None else json
    handler = _Stderr()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_shared(), structlog.stdlib.ExtraAdder()],
            processors=_rendering(as_json=as_json),
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    logging.captureWarnings(capture=True)
    atexit.register(SINK.flush)


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger; `name` becomes the field `logger`."""
    logger: FilteringBoundLogger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            _without_secrets,  # here too: where nobody configured logging, no formatter of ours follows
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
    )
    return logger


@contextmanager
def bound(
    *, correlation_id: str | None = None, action_uuid: UUID | str | None = None, **more: Any
) -> Iterator[None]:
    """Add these ids to every line logged inside the block and in tasks started there."""
    uuid = None if action_uuid is None else str(action_uuid)
    with structlog.contextvars.bound_contextvars(correlation_id=correlation_id, action_uuid=uuid, **more):
        yield


def bind(*, correlation_id: str | None, action_uuid: UUID) -> None:
    """The same for the rest of a task; without a block to undo it costs a quarter."""
    structlog.contextvars.bind_contextvars(correlation_id=correlation_id, action_uuid=action_uuid)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]


def _rendering(*, as_json: bool) -> list[Processor]:
    plain: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        _with_ids,
        _without_secrets,
    ]
    if as_json:
        return [*plain, structlog.processors.JSONRenderer(ensure_ascii=True, allow_nan=False)]
    return [
        *plain,
        _printable,
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), timestamp_key="time"),
    ]


def _with_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name in IDS:
        event.setdefault(name, None)
    return event


def _without_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: redact_value(value) for key, value in event.items()}


def _printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: _visible(key, value) for key, value in event.items()}


def _visible(key: str, value: Any) -> Any:
    if isinstance(value, str):
        hidden = _CONTROL_IN_BLOCK if key in ("exception", "stack") else _CONTROL
        return hidden.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), value)
    return value
