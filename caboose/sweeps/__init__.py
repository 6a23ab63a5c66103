"""Loops beside the path, for everything that no observation triggers.

    due_callbacks.py  ends that others recorded (a cancel, plain SQL): stops the execution, inserts callbacks
    timeouts.py       workflows without an end within their timeout become TIMED_OUT
    reconcile.py      executions that vanished from their backend, or that it did not report

Each reads pages from the ledger, and each item is independent: one that cannot be processed now is tried
again at a later pass, and the items behind it go on.
"""
