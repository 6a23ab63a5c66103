"""Caboose records the states of executions in the ledger.

The path of an execution that ended, from its backend to its callbacks:

    observe/    intake.py    a source's observations, in a bounded queue
                decide.py    what each observation needs, given its thread
                progress.py  everything that is not an end: progress, heartbeats, executions to stop
    complete/   archive.py   the record, the log and the output go to the store
                record.py    one transaction: the end, and in
                callbacks.py its callbacks
                forget.py    delete the workflow, acknowledge the message

One observation is one `Case` (case.py) on all of this path; what is not finished goes back to the intake.
`complete/completer.py` is the loop that runs the path. Beside it run the loops of `sweeps/`: callbacks that
are still due, timeouts, and reconcile, which compares the ledger with the backends. `process.py` starts and
stops everything with one configuration, `program.py` follows it by another after a reload or a loss;
`queries.py` is all SQL. No module here knows a backend.
"""
