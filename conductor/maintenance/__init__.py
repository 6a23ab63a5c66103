"""Maintenance: what a conductor does besides its claims, one file per loop, on a separate session.

own_session.py    the session that the loops share, one loop at a time
lost_workers.py   marks workers without heartbeats as lost, and pauses names that lose too many
pulse.py          sends the heartbeats of resting workers, and wakes workers and loops that have work
clock.py          corrects retries that were recorded while the server's clock was ahead
partitions.py     creates partitions ahead of time and drops old ones
gauges.py         metrics from the ledger: queue depth, lanes, causes, missed ticks, stuck campaigns
pauses.py         reports paused action names in the log and the metrics
routes.py         announces workflows, lanes and limits of names before their workers register
unserved_names.py retries names whose handler could not start; ends actions that wait too long under a
                  name that no conductor serves, where that is configured
settle.py         releases or cancels actions that wait for others
ticks.py          fires the schedules that are due
"""
