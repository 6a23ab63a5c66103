"""The summary of a configuration, part of `switchyard check`."""

import shutil
import sys

from rich.console import Console
from rich.table import Table

from switchyard.backends.registry import backend_of
from switchyard.config import Action, Config, Workflow
from switchyard.config.units import format_duration, format_rate


def summary(config: Config) -> None:
    """Print action names, workflows and their callbacks."""
    console = Console(width=shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 160)
    console.print(f"database     {config.database.url or 'from PG* variables'}", highlight=False)
    console.print(f"store        {config.store}", highlight=False)
    console.print(f"fingerprint  {config.fingerprint()[:16]}\n", highlight=False)
    if config.actions:
        console.print(_actions(config))
    if config.workflows:
        console.print(_workflows(config))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _actions(config: Config) -> Table:
    table = _table("action", "type", "limits")
    for name, action in config.actions.items():
        table.add_row(name, action.type, _limits(action))
    table.add_row()
    return table


def _limits(action: Action) -> str:
    backend = backend_of(action.type)
    # A dispatch that only hands over ends long before the execution: that many may run, and more.
    hands_over = backend is not None and backend.sources is not None
    what = "dispatches at a time, running ones not limited" if hands_over else "at a time"
    limits = [f"{action.concurrency} {what}", f"{action.retry.attempts} attempts"]
    if action.rate is not None:
        limits.append(f"{format_rate(action.rate.limit)} per {action.rate.scope}")
    if action.breaker is not None:
        limits.append("breaker")
    if action.delivery == "at_most_once":
        limits.append("at most once")
    return ", ".join(limits)


def _workflows(config: Config) -> Table:
    table = _table("workflow", "on", "runs", "timeout", "then")
    for name, workflow in config.workflows.items():
        action = config.actions[workflow.action]
        table.add_row(
            name, workflow.action, _runs(workflow, action), format_duration(workflow.timeout), _then(workflow)
        )
    return table


def _runs(workflow: Workflow, action: Action) -> str:
    if workflow.steps:
        return f"{len(workflow.steps)} steps"
    template = workflow.template or action.default_template
    if workflow.manifest is not None:
        return workflow.manifest.path or "a manifest written in place"
    return " ".join(template) if isinstance(template, tuple) else template or "-"


def _then(workflow: Workflow) -> str:
    return ", ".join(callback.name for callback in workflow.callbacks) or "-"
