"""Conductor claims actions that are due, dispatches them, and records their outcomes.

The path of an action, in the order of the packages:

    worker/     one worker per connection: wakes up, and decides what to do next
    claim/      takes the action's advisory lock and reads what it is
    dispatch/   runs the handler, and stores what the outcome needs
    outcomes/   turns the outcome into one event, and writes it

`dispatch/pipeline.py` is the whole path on one page: claim, run, store, decide, write, unlock. On it an
action is one record (`action.py`) in one table (`dispatch/inflight.py`); the locks held are the records in
the table.

Beside the path:

    limits/       what all workers of a name share: rate, breaker, handler
    session/      the connection that holds the locks, and how values travel on it
    maintenance/  work that any conductor does for all: lost workers, partitions, schedules, unserved names
    process.py    the program: a pool of workers per action name, the maintenance loops, configuration reload
    registry.py   a worker's row in the database
"""
