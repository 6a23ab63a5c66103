"""Observations: from a backend's reports to a decision about each.

    intake.py       takes observations from one source, no faster than they are completed
    decide.py       decides the next step (`NextStep`) of an observation
    progress.py     records progress and heartbeats, reports anomalies, stops executions no longer needed
    stop.py         asks a backend to stop an execution, and records that once
    acknowledge.py  the last step of everything that is not an end
    listen.py       wakes the due sweep after a cancel

A source may report in any order and as often as it likes. It reports every end until it is asked to forget
it, so an observation that is lost here is reported again.
"""
