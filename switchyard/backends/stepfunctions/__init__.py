"""Executions of AWS Step Functions (`cirrus`), and answers to waiting tasks (`cirrus_task`).

handler.py      conductor's side: starts an execution with the name of the run
source.py       caboose's side: status-change messages, lists of running executions, describe for silent ones
redrive.py      finds the run of an execution, and how a run continues the previous one
observe.py      turns a described execution into an observation
sfn_handler.py  the client that both handlers share
task.py         sends success or failure to a waiting task
"""
