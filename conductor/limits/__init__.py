"""What all workers of one action name in a process share, and what limits them.

served_name.py   the action name as configured: handler, rate, breaker, metrics
bucket.py        tokens of this process
fleet_bucket.py  tokens that all processes share, one row in the database
claim_size.py    fewer actions in a claim after one that failed
breaker.py       errors that match a pattern slow the rate, successes bring it back
"""
