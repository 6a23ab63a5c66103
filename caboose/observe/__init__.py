"""From a backend's reports to a decision about each.

    intake.py       takes observations from one source, as fast as they are completed and no faster
    decide.py       the only place that decides what an observation needs (`NextStep`)
    progress.py     records progress and heartbeats, reports what is strange, stops what is no longer needed
    stop.py         asks a backend to stop an execution, and records that once
    acknowledge.py  the last step of everything that is not an end
    listen.py       wakes the due sweep when somebody cancels

A source may report in any order and as often as it likes. It reports every end until it is asked to forget
it, so whatever is lost here comes again.
"""
