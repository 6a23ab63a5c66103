"""Claims: an action's advisory lock is its lease, and the session that holds it is the fence.

    claim.py      lock up to n due actions and read them, each as a record; give locks back
    in_parts.py   the same after a claim that failed: ids first, then descriptions in small parts
    fast_path.py  the same for the one action that a notification named, sent before the worker has woken up

A row that cannot be read is returned as already decided (INVALID); other rows are not affected.
"""
