"""Local executions: a supervised, detached process in a spool folder.

handler.py   conductor's side: makes the folder of the run and leaves a supervisor behind
launch.py    starts the supervisor, which outlives conductor
source.py    caboose's side: looks through the folders of the spool
spool/       the folder of one execution, its files, and the supervisor
"""
