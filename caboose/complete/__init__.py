"""From an observed end to a recorded one with its callbacks.

    completer.py  the pipeline: look up and decide, then archive, record, forget
    archive.py    writes the record, the log and the output to the store
    output.py     reads the output back within limits, and checks it against the workflow's schema
    record.py     one transaction for many ends: events, retries (retry.py), callbacks
    callbacks.py  inserts the callbacks that plan.py derives from the end, its input and its output
    forget.py     deletes or acknowledges the execution, under its thread's advisory lock
    services.py   what the loops of one caboose share

Each step can be repeated: objects are written once, the ledger ignores a second end of a run, and a
callback's uuid is derived from its end. So a crash between any two steps only repeats the rest.
"""
