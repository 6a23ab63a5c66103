"""`graph`: starts the steps of a workflow that has steps, and puts its output together.

An action with a workflow: handler.py checks its parameters, steps.py makes a graph of the workflow's steps,
and the database makes the nodes members of the action (open_graph in migrations/current/graphs.sql), which
from then on is RUNNING until the last of them has ended. An action without a workflow is the node that
collects the output of its graph from the outputs of other nodes.
"""
