"""Dispatches: from a claimed action to a decided one.

pipeline.py      the path on one page: claim, run, store, decide, write, unlock
inflight.py      the table of every action whose lock this worker holds
handler_call.py  one call of a handler: time limit, tracing, exceptions as outcomes
group_commit.py  stores handler data for many outcomes before the outcomes are recorded
threads.py       blocking calls of handlers, in threads per action name
batch.py         the same path for handlers that answer for a whole claim at once (columns, no records)
"""
