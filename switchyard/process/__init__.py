"""What all long-running programs share.

A program starts in frame.py: it installs the signals (signals.py), tracing (tracing.py), the watchdog of
the event loop (watchdog.py), the health and metrics server (health.py, metrics.py) and the watch over the
configuration file (reload.py), then runs the program, whose work is done by loops (loop.py) of one shape:
do what is due, return when to be called again. An uncaught exception decides the exit code (exit.py,
../errors.py).

Around that path:
    log.py, sink.py, redact.py   log lines with ids and without secrets, written without blocking
    bounded/, evaluate.py        child processes with limits, for untrusted expressions and documents
    heartbeat.py                 a worker's row: heartbeats, being marked lost, closing
    silence.py                   finds workers without heartbeats and marks them lost
    deadline.py                  one timer for many equal time limits
    linux.py                     end with the parent, adopt orphans, list children
"""
