"""A private Postgres in a folder, for `switchyard up`: no root, no port, no installation.

It belongs to the process that starts it and ends with it: in order by `stop()`, and by the kernel, which
sends the server the signal of an orderly shutdown when its parent ends, by kill -9 too. One process at a time
owns a folder; others connect by its URL.

The path of a start (postgres.py): lock the folder, wait for leftovers of a server that was killed
(postmaster.py), choose the account (account.py; for root another user), make the data once (cluster.py),
choose the socket's folder (sockets.py); then launcher.py becomes that user, binds itself to us and becomes
postgres. The output of a Postgres that cannot start becomes an error message (explain.py).

The folder: `data/` (survives), `postgres.log` (and one older, `.1`), `run/` (the socket, which only the
server's own user and root can reach) and a lock file. It does not listen on TCP. Settings: queue.conf.
"""
