"""The parts that all long-running programs share.

A program starts in frame.py: it installs the signals (signals.py), tracing (tracing.py), the watchdog of the
event loop (watchdog.py), the health and metrics server (health.py, metrics.py) and the watch over the
configuration file (reload.py), then runs the program, whose work is loops (loop.py) that share one shape: do
what is due, say when to be called again. What escapes decides the exit code (exit.py, ../errors.py).

Around that path:
    log.py, sink.py, redact.py   log lines: ids on each, no secrets, and never a wait for their reader
    bounded/, evaluate.py        processes with limits for expressions and documents that strangers wrote
    heartbeat.py                 the row of a worker: heartbeats, marked lost, closed
    silence.py                   whose heartbeat stopped, and marking it lost
    deadline.py                  one timer for many equal time limits
    linux.py                     end with the parent, adopt orphans, list children
"""
