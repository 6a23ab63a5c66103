"""What a conductor does besides its claims, one file per loop, on one session of its own.

own_session.py    the session that the loops share, one at a time
lost_workers.py   marks workers that stopped their heartbeat, and pauses names that lose too many
pulse.py          beats for the workers that rest, and wakes what sleeps and has something to do
clock.py          corrects retries that were recorded while the server's clock was ahead
partitions.py     makes partitions ahead and drops old ones
gauges.py         depth of the queue, lanes, causes, missed ticks and stuck campaigns, for the metrics
pauses.py         logs and shows the action names that are paused
routes.py         announces workflows, lanes and limits of names before their workers register
unserved_names.py starts names again whose handler could not start; ends what waits too long under a
                  name that no conductor serves, where that is configured
settle.py         releases or cancels actions that wait for others
ticks.py          fires the schedules that are due
"""
