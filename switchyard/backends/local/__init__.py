"""Local executions: a supervised, detached process in a spool folder."""
