"""Jobs for workers behind an SQS queue, and the status messages that the workers send.

    handler.py         conductor's side: puts the job on the work queue; too large an input goes to the store
    source.py          caboose's side: reads the status queue, message by message
    status_message.py  parses the messages of workers, which are untrusted

A queue cannot be searched for a job: a job without messages ends by its timeout.
"""
