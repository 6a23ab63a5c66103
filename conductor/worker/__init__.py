"""Workers: one connection each, all of one action name in a pool.

pool.py         all workers of one action name in this process, with the handler that they share
worker.py       one worker: opens a session, registers, runs a loop on it, and starts again when it is lost
connections.py  connections that quiet workers share, and the lookout for those without one
loop.py         the turns of a worker: write what was decided, claim what there is room for, rest
wakeup.py       when to look for work, and the bell (NOTIFY) that ends a rest
"""
