"""Jobs for workers behind an SQS queue, and the status messages that they send back.

    handler.py         conductor's side: puts the job on the work queue; an input too large goes to the store
    source.py          caboose's side: reads the status queue, message by message
    status_message.py  parses the messages of workers, which are untrusted

A queue has no names to look by: a job that stays silent ends by its timeout.
"""
