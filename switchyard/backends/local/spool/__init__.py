"""The spool: where a local execution lives while it runs, and what it leaves behind.

The model. One folder an execution, named like the execution (`<uuid>`, `<uuid>-r2`), under a root that
belongs to one host. `mkdir` decides who made it. Its life:

    (folder)        conductor made it; nothing runs yet
    lock            the supervisor holds an exclusive flock on it for as long as it lives
    started.json    written under that lock before anything runs: from here on, it is never started again
    stdout, stderr  its output, cut in the middle where it is too long
    stop            asks the supervisor to end the process: it looks several times a second
    exit.json       how it ended, written atomically as the supervisor's last act

What each failure does. Conductor dies before `started.json`: the next dispatch finds the folder without the
mark and starts it. Two supervisors race: one gets the flock, the other finds the lock or the mark and leaves.
The supervisor dies: the kernel kills its child, the flock is free, there is no `exit.json`: that execution
died, and is never started again under this name. Conductor dies at any later time: the command runs on.
The window of trust is the flock: it holds on a local file system, hence one host a spool.

This package imports the standard library alone, for the supervisor has to start quickly.
"""
