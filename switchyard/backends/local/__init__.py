"""Local executions: a supervised, detached process in a spool folder.

handler.py   conductor's side: creates the folder of the run and starts a supervisor
launch.py    starts the supervisor, which outlives conductor
source.py    caboose's side: polls the folders of the spool
spool/       the folder of one execution, its files, and the supervisor
"""
