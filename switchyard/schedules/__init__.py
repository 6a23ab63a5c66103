"""Schedules: which action is submitted at which times.

    times.py    the times of a cron expression or an interval, as moments in UTC
    due.py      which of the ticks that have passed fire, and which were missed, by catch_up
    apply.py    the schedules of the configuration, written to the database
    rows.py     a row of the database as a schedule

The configuration's model is switchyard/config/schedules.py. Conductors fire what is due
(conductor/maintenance/ticks.py); the SQL function `tick` decides under the schedule's row lock, so that any
number of conductors may try (migrations/current/schedules.sql).
"""
