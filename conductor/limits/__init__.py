"""Limits: what all workers of one action name in a process share.

served_name.py   the action name as configured: handler, rate, breaker, metrics
tokens.py        the rate: one token per dispatch, from this process's bucket or the fleet's
bucket.py        the token buckets: of this process, and of the fleet (one row in the database)
claim_size.py    smaller claims after a failed one
flows.py         lanes that take turns, and limits for the fleet, which the database enforces
breaker.py       slows the rate after matching errors, restores it after successes
"""
