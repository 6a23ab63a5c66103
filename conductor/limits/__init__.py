"""What all workers of one action name in a process share, and what limits them.

served_name.py   the action name as configured: handler, rate, breaker, metrics
tokens.py        the rate: a token for each dispatch, of this process or of all
bucket.py        the buckets: of this process, and of all processes in one row of the database
claim_size.py    fewer actions in a claim after one that failed
flows.py         what takes turns by lane and has limits for the fleet, decided in the database
breaker.py       errors that match a pattern slow the rate, successes bring it back
"""
