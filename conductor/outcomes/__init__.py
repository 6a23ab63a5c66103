"""Outcomes: from what a handler returned to one event in the ledger.

decide.py  the rules: which event an outcome becomes, by retry policy and delivery mode
retry.py   the backoff formula
write.py   writes many events in one statement; a row that cannot be written does not affect others
"""
