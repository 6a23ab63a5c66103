"""The `switchyard` command: one file per command, or per pair that belongs together.

    program.py        lists all commands by the first line of their docstrings, imports the one called
    options.py        options that several commands share      complete.py   values that the shell completes
    filters.py        --name, --status, --since, …             ids.py        ids, whole or shortened
    database.py       the configuration, the connection, and database errors as messages
    output.py         JSON, times and colours                  table.py      tables cut to the screen's width
    schedules.py      a command with verbs: `VERBS` lists them
    everything.py     what `up` starts, runs and shows
    many.py           a decision about many actions: choose, show, ask, apply in groups
    causes.py         causes of failures, and retriggering at a pace that stops when the cause returns
    over_http/        the commands of people without access to the database, with --url

A command loads the configuration once (`configured`), opens one connection (`connected`), runs a named query
of switchyard/ledger/queries, and prints a table for people or, with --json, JSON for programs. Errors end it
with a message and the exit code of switchyard/errors.py.
"""

from switchyard.cli.over_http import COMMANDS as OVER_HTTP
from switchyard.cli.program import program, run

COMMANDS = {
    "up": "switchyard.cli.up:up",
    "check": "switchyard.cli.check:check",
    "schema": "switchyard.cli.schema:schema",
    "migrate": "switchyard.cli.migrate:migrate",
    "submit": "switchyard.cli.submit:submit",
    "list": "switchyard.cli.list:list_",
    "show": "switchyard.cli.show:show",
    "events": "switchyard.cli.events:events",
    "watch": "switchyard.cli.watch:watch",
    "why": "switchyard.cli.why:why",
    "inbox": "switchyard.cli.inbox:inbox",
    "retrigger": "switchyard.cli.retrigger_cancel:retrigger",
    "cancel": "switchyard.cli.retrigger_cancel:cancel",
    "call-back": "switchyard.cli.call_back:call_back",
    "pause": "switchyard.cli.pause_resume:pause",
    "resume": "switchyard.cli.pause_resume:resume",
    "dismiss": "switchyard.cli.dismiss:dismiss",
    "schedules": "switchyard.cli.schedules:schedules",
    "campaign": "switchyard.cli.campaign:campaign",
    "results": "switchyard.cli.results:results",
    "token": "switchyard.cli.token:token",
    "lanes": "switchyard.cli.lanes:lanes",
    "workers": "switchyard.cli.workers:workers",
    "partitions": "switchyard.cli.partitions:partitions",
    "verify": "switchyard.cli.verify:verify",
    "doctor": "switchyard.cli.doctor:doctor",
}

app = program(
    "switchyard",
    "Runs and tracks long workflows and their callbacks, with Postgres as the queue.",
    COMMANDS,
    OVER_HTTP,
)


def main() -> None:
    """The entry point."""
    run(app)
