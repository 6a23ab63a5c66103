"""What speaks to AWS: client factory, error codes, one SQS queue."""
