"""Executions of AWS Step Functions (`cirrus`), and answers to tasks that wait (`cirrus_task`).

handler.py      conductor's side: starts an execution, named like the run
source.py       caboose's side: status-change messages, lists of what runs, and describe for the silent ones
redrive.py      which run an execution is of, and how a run continues the one before it
observe.py      a described execution becomes an observation
sfn_handler.py  the client that both handlers share
task.py         sends a waiting task its success or failure
"""
