"""`switchyard submit`."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from switchyard.cli.complete import action_names, workflows
from switchyard.cli.database import Rows, configured, connected, rules
from switchyard.cli.filters import moment
from switchyard.cli.ids import identified, whole
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.process.tracing import traced
from switchyard.submit import Submission
from switchyard.submit.check import accept
from switchyard.submit.submission import Request
from switchyard.submit.write import write_many, write_one

if TYPE_CHECKING:
    from switchyard.config.config import Config

FIELDS = set(Submission.__dataclass_fields__)
AfterPolicy = Literal["successful", "ended"]

ActionName = Annotated[
    str | None,
    typer.Argument(
        help="The action name; not needed with --workflow.", show_default=False, autocompletion=action_names
    ),
]
WorkflowName = Annotated[
    str | None,
    typer.Option(
        "--workflow", "-w", help="The workflow to run.", show_default=False, autocompletion=workflows
    ),
]
Parameters = Annotated[
    str,
    typer.Option("--parameters", "-p", metavar="JSON", help="A JSON object, @FILE, or - for standard input."),
]
Priority = Annotated[int, typer.Option(help="A lower number runs first.")]
CorrelationId = Annotated[
    str | None,
    typer.Option(help="Your own id, copied to logs, messages and webhooks.", show_default=False),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", help="Idempotency key: reusing it returns the first action's id.", show_default=False
    ),
]
After = Annotated[
    str | None,
    typer.Option(
        "--after",
        metavar="TIME",
        help="Earliest start: 2026-01-31T08:00 (local time), 2026-01-31T08:00Z, or a delay like 10m.",
        show_default=False,
    ),
]
Parent = Annotated[str | None, typer.Option(help="The id of the parent action.", show_default=False)]
Callbacks = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help="Callbacks of this action alone: a JSON list, @FILE or -.",
        show_default=False,
    ),
]
Lane = Annotated[
    str | None,
    typer.Option(help="The lane, for example a customer: limits and turns are per lane.", show_default=False),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", help="A label to search by; may be repeated.", show_default=False),
]
WaitFor = Annotated[
    list[str] | None,
    typer.Option(
        "--wait-for",
        metavar="ACTION",
        help="The id of an action that must have ended before this one starts; may be repeated.",
        show_default=False,
    ),
]
WaitPolicy = Annotated[
    AfterPolicy,
    typer.Option(help="successful: cancel this one unless all of them succeed; ended: start it anyway."),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Reuse no result, and do not let others reuse this one."),
]
Bulk = Annotated[
    str | None,
    typer.Option(
        "--bulk",
        metavar="FILE",
        help="Many at once, all or none: a file (- for standard input) with one JSON object per line, like "
        '{"workflow": "nutrient", "parameters": {}}; keys: action_name, parameters, workflow, priority, '
        "correlation_id, idempotency_key, start_after, parent_uuid, callbacks, lane, tags, after, "
        "after_policy, no_cache.",
        show_default=False,
    ),
]


def submit(
    name: ActionName = None,
    config: ConfigFile = None,
    workflow: WorkflowName = None,
    parameters: Parameters = "{}",
    priority: Priority = 100,
    correlation_id: CorrelationId = None,
    key: Key = None,
    after: After = None,
    parent: Parent = None,
    callbacks: Callbacks = None,
    lane: Lane = None,
    tag: Tags = None,
    wait_for: WaitFor = None,
    wait_policy: WaitPolicy = "successful",
    no_cache: NoCache = False,
    bulk: Bulk = None,
    as_json: AsJson = False,
) -> None:
    """Submit an action and print its id. Reusing a key returns the first action's id.

    Example: switchyard submit --workflow nutrient -p '{"site": "file:///data/sites.zip"}' --key order-17
    """
    if bulk is not None:
        _bulk(config, bulk, as_json)
        return
    submission = Submission(
        name, read_json("--parameters", parameters), workflow, priority, correlation_id, key,
        start_after=start("--after", after), callbacks=read_json("--callbacks", callbacks or "null"),
        lane=lane, tags=tag or (), no_cache=no_cache or None,
    )  # fmt: skip
    request = accept(submission, rules(config))
    with traced("submit"), connected(configured(config)) as connection:
        request = _related(connection, request, parent, wait_for or (), wait_policy)
        uuid = write_one(connection, request)  # type: ignore[arg-type]
    print_json({"action_uuid": uuid}) if as_json else print(uuid)


def _related(
    connection: Rows, request: Request, parent: str | None, wait_for: Sequence[str], policy: AfterPolicy
) -> Request:
    """With the ids of other actions, which may be shortened."""
    submission = request.submission
    if parent:
        submission = replace(submission, parent_uuid=identified(connection, parent))
    if wait_for:
        after = tuple(identified(connection, given) for given in wait_for)
        submission = replace(submission, after=after, after_policy=policy)
    return replace(request, submission=submission)


def _bulk(config: Path | None, source: str, as_json: bool) -> None:
    requests = list(_requests(rules(config), _text(source).split("\n")))
    with traced("submit"), connected(configured(config)) as connection:
        uuids = write_many(connection, requests)  # type: ignore[arg-type]
    if as_json:
        print_json(uuids)
    else:
        for uuid in uuids:
            print(uuid)


def _requests(checked: "Config | None", lines: Sequence[str]) -> Iterator[Request]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield accept(_submission(line), checked)
            except BadInput as error:
                raise BadInput(f"line {number}: {error}") from error


def _submission(line: str) -> Submission:
    body = _json(line)
    if not isinstance(body, dict) or not set(body) <= FIELDS:
        raise BadInput(f"must be an object of {', '.join(sorted(FIELDS))}")
    if body.get("start_after"):
        body["start_after"] = start("start_after", str(body["start_after"]))
    if body.get("parent_uuid"):
        body["parent_uuid"] = whole(str(body["parent_uuid"]), "a valid UUID")
    after = body.get("after") or ()
    if isinstance(after, list):
        after = [whole(str(given), "a valid UUID") for given in after]
    return Submission(**{**body, "tags": body.get("tags") or (), "after": after})


def read_json(option: str, given: str) -> Any:
    """The value of an option that takes JSON, @FILE or - for standard input."""
    if given == "-" or given.startswith("@"):
        given = _text(given.removeprefix("@"))
    try:
        return _json(given)
    except BadInput as error:
        raise BadInput(f"{option}: {error}") from error


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput(f"is not valid JSON ({error})") from error
    except RecursionError as error:
        raise BadInput("is not valid JSON (it is nested too deeply)") from error


def _text(source: str) -> str:
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read {source}: it is not UTF-8") from error


def start(option: str, given: str | None) -> datetime | None:
    """A time, or a delay from now."""
    if given is None:
        return None
    try:
        return datetime.now(UTC) + timedelta(seconds=parse_duration(given))
    except OverflowError as error:
        raise BadInput(f"{option}: {given} is too far away") from error
    except ValueError:
        return moment(option, given)
