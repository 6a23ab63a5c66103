"""The spool: the folders of local executions, with their state and their results.

The model. Each execution has a folder with its name (`<uuid>`, `<uuid>-r2`), under a root that belongs to one
host. `mkdir` decides which process created it. Its files, in order:

    (folder)        conductor created it; nothing runs yet
    lock            the supervisor holds an exclusive flock on it as long as it lives
    started.json    written under that lock before anything runs: from here on, it is never started again
    stdout, stderr  its output, with the middle omitted if it is too long
    stop            asks the supervisor to end the process: it looks several times a second
    exit.json       how it ended, written atomically as the supervisor's last act

What each failure does. If conductor dies before `started.json`, the next dispatch finds the folder without
that file and starts the execution. If two supervisors race, one gets the flock; the other finds the lock or
`started.json` and exits. If the supervisor dies, the kernel kills its child, the flock is released and there
is no `exit.json`: that execution died, and is never started again under this name. If conductor dies at any
later time, the command continues.
The window of trust is the flock: it only works on a local file system, so each spool belongs to one host.

This package imports only the standard library, because the supervisor has to start quickly.
"""
