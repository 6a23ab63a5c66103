"""AWS Step Functions: executions (`cirrus`) and task tokens (`cirrus_task`)."""
