"""The kinds of faults that a yard can suffer, with what each does; where a part is missing, its kinds are too."""

from collections.abc import Mapping

from tests.faults.inject import (
    api,
    hooks,
    host,
    messages,
    neighbours,
    network,
    programs,
    queues,
    server,
    spool,
)
from tests.faults.inject.strike import Injection
from tests.faults.plan import Kind
from tests.faults.yard import Yard

INJECTIONS: Mapping[str, Injection] = {
    "kill": programs.kill,
    "power cut": programs.power_cut,
    "freeze": programs.freeze,
    "process killed": spool.kill_supervisor,
    "backend ended": server.terminate,
    "backend frozen": server.freeze_backend,
    "postgres restart": server.restart,
    "postgres crash": server.crash,
    "postmaster killed": server.behead,
    "network cut": network.cut,
    "half-open": network.silence,
    "network refuses": network.refuse,
    "network slow": network.delay,
    "disk full": host.full_disk,
    "clock jump": host.clock_jump,
    "hooks slow": hooks.slow,
    "hooks fail": hooks.failing,
    "hooks hang up": hooks.hang_up,
    "hooks away": hooks.away,
    "message twice": queues.duplicate,
    "message late": queues.late,
    "sqs outage": queues.outage,
    "sqs hangs up": queues.hang_up,
    "api away": api.away,
    "api silent": api.silence,
    "api hangs up": api.hang_up,
    "api crash": api.crash,
    "argo killed": api.controller,
    "poison rows": neighbours.poison,
    "rows held": neighbours.hold_rows,
    "receiver frozen": neighbours.freeze_receiver,
    "wrong configuration": neighbours.misconfigure,
    "database copied": neighbours.copy_database,
    "server clock jump": neighbours.server_clock_jump,
    "poison messages": messages.poison,
}
STARTING = 3.0  # what was killed has to come up before it is killed again, else it is never there
LONGER = (
    4.5,
    8.0,
)  # than any time-out: an answer of the server, a lost worker and a hidden message 3 s

NEIGHBOURS = (
    Kind("poison rows", "neighbour", ("rows",), 2),
    Kind("rows held", "neighbour", ("threads",), 2, (1.0, 4.0)),
    Kind("receiver frozen", "neighbour", ("frozen",), 2, rest=STARTING),
    Kind("wrong configuration", "neighbour", ("file",), 1, (1.0, 3.0), rest=STARTING),
    Kind("database copied", "neighbour", ("copy",), 1),
)


def kinds(yard: Yard) -> list[Kind]:
    """For the plan: who can be hit, how often, for how long."""
    ours = tuple(yard.programs)
    connected = tuple(name for name, program in yard.programs.items() if program.network)
    clocks = tuple(name for name, program in yard.programs.items() if program.clock)
    sqs = ("elasticmq",) if yard.jobs else ()
    cluster = ("cluster",) if yard.flows else ()
    return [
        kind
        for kind in (
            Kind("kill", "process", ours, 6, rest=STARTING),
            Kind("power cut", "process", ours, 2, rest=STARTING),
            Kind("freeze", "process", ours, 3, LONGER, rest=STARTING),
            Kind("process killed", "spool", ("spool",), 3),
            Kind("backend ended", "backend", connected, 8),
            Kind("backend frozen", "backend", connected, 1, LONGER),
            Kind("postgres restart", "server", ("postgres",), 1, rest=STARTING),
            Kind("postgres crash", "server", ("postgres",), 1, rest=STARTING),
            Kind("postmaster killed", "server", ("postgres",), 1, rest=STARTING),
            Kind("network cut", "network", (*connected, "submitter"), 6),
            Kind("half-open", "network", connected, 3, LONGER),
            Kind("network refuses", "network", connected, 2, (0.5, 2.0)),
            Kind("network slow", "network", connected, 2, (1.0, 3.0)),
            Kind("disk full", "disk", ("store",) if yard.disk else (), 2, (1.0, 4.0), rest=STARTING),
            Kind("clock jump", "clock", clocks, 4, (1.0, 6.0)),
            Kind("hooks slow", "hooks", ("receivers",), 3, (1.0, 3.0)),
            Kind("hooks fail", "hooks", ("receivers",), 3, (1.0, 3.0)),
            Kind("hooks hang up", "hooks", ("receivers",), 3),
            Kind("hooks away", "hooks", ("receivers",), 2, (0.5, 2.0)),
            Kind("message twice", "message", ("work", "status") if yard.jobs else (), 5),
            Kind("message late", "message", ("work", "status") if yard.jobs else (), 3),
            Kind("sqs outage", "sqs", sqs, 2, LONGER),
            Kind("sqs hangs up", "sqs", sqs, 2),
            Kind("api away", "api", cluster, 2, (1.0, 4.0)),
            Kind("api silent", "api", cluster, 2, LONGER),
            Kind("api hangs up", "api", cluster, 3),
            Kind("api crash", "api", cluster, 1, rest=2 * STARTING),
            Kind("argo killed", "argo", cluster, 1, rest=STARTING),
            *NEIGHBOURS,
            Kind("server clock jump", "neighbour", ("clock",) if yard.server_clock else (), 2, (1.0, 4.0)),
            Kind("poison messages", "neighbour", ("status",) if yard.jobs else (), 2),
        )
        if kind.targets
    ]
