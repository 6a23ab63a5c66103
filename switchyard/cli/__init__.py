"""The `switchyard` command: a file for each command or family of commands."""

from switchyard.cli.program import Command, program, run

COMMANDS = {
    "up": Command(
        "switchyard.cli.up:up",
        "Start Postgres, conductor, caboose and a webhook receiver; run the sample; stay until Ctrl-C.",
    ),
    "check": Command(
        "switchyard.cli.check:check",
        "Check the configuration: every problem with its line, or a summary of what it serves (78: bad).",
    ),
    "schema": Command(
        "switchyard.cli.schema:schema",
        "Print the JSON Schema of the configuration, with the types that installed packages bring.",
    ),
    "migrate": Command(
        "switchyard.cli.migrate:migrate",
        "Bring the database to the schema of this version; does nothing where it is.",
    ),
    "submit": Command("switchyard.cli.submit:submit", "Ask for an action and print its id."),
    "list": Command("switchyard.cli.look:list_", "List actions, the newest first."),
    "show": Command(
        "switchyard.cli.show:show",
        "Show one action: what was asked, where it stands, steps, callbacks as a tree, exchanges, files.",
    ),
    "events": Command(
        "switchyard.cli.look:events", "Every step of one action, in the order in which they came."
    ),
    "watch": Command(
        "switchyard.cli.watch:watch",
        "Follow actions live; with ids, until all have ended (exit 1 if one did without success).",
    ),
    "inbox": Command(
        "switchyard.cli.look:inbox",
        "What waits for a person: failed actions, lost workers, messages that nobody could read.",
    ),
    "retrigger": Command(
        "switchyard.cli.decide:retrigger", "Run actions again that ended without success, each as a new run."
    ),
    "cancel": Command(
        "switchyard.cli.decide:cancel",
        "End actions that have not ended; what runs at a backend is stopped there.",
    ),
    "pause": Command(
        "switchyard.cli.decide:pause",
        "Claim nothing more of an action name until it is resumed; what is in flight goes on.",
    ),
    "resume": Command("switchyard.cli.decide:resume", "Claim an action name again."),
    "dismiss": Command(
        "switchyard.cli.decide:dismiss",
        "Take entries that belong to no action out of the inbox: lost workers, unreadable messages.",
    ),
    "workers": Command(
        "switchyard.cli.look:workers",
        "The workers of all programs: what they do, how fast, and which are lost.",
    ),
    "partitions": Command(
        "switchyard.cli.keep:partitions",
        "The ledger's partitions: list them, make them ahead, drop old ones (never one with an open thread).",
    ),
    "verify": Command(
        "switchyard.cli.keep:verify",
        "Fold every event log and compare it with its thread; exit 1 where the ledger contradicts itself.",
    ),
    "doctor": Command(
        "switchyard.cli.doctor:doctor",
        "Check the server, its settings, the connection, privileges, clocks, migrations and partitions.",
    ),
}

app = program(
    "switchyard",
    "Runs and tracks long workflows and their callbacks; Postgres is the only queue and the only truth.",
    COMMANDS,
)


def main() -> None:
    """The entry point."""
    run(app)
