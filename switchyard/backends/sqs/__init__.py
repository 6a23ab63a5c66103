"""Jobs for SQS workers, and the status messages they send back."""
