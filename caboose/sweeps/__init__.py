"""Sweeps: loops for everything that no observation triggers.

    due_callbacks.py  ends that others recorded (a cancel, plain SQL): stops the execution, inserts callbacks
    timeouts.py       workflows without an end within their timeout become TIMED_OUT
    reconcile.py      executions that vanished from their backend, or that it did not report

Each reads pages from the ledger, and items are independent: one that cannot be processed now is retried
at a later pass, without delaying the others.
"""
