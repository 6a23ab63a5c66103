"""What a conductor looks after besides its claims, a file a loop."""
