"""What every user of AWS shares: the client factory, the meaning of error codes, and one SQS queue.

    client.py   boto3 clients for s3, sqs and stepfunctions, with timeouts that fit their callers
    errors.py   one table from AWS's error codes to what they mean here
    queue.py    one SQS queue: find, receive, delete, hide, send
    model.py    the configuration keys that all types on AWS have

boto3 blocks, so an event loop calls all of this through `switchyard.backends.threads`. Credentials come the
way that AWS's own tools find them.
"""
