"""Workers: one connection each, all of one action name in a pool.

pool.py         all workers of one action name in this process, with the handler that they share
worker.py       one worker: opens a session, registers, runs a loop on it, and starts again when it is lost
connections.py  shared connections, where there are more workers than connections; the lookout
loop.py         the turns of a worker: write decided actions, claim new ones, rest
wakeup.py       decides when to look for work; the bell (NOTIFY) that ends a rest
"""
