"""What conductor can do, one file a type."""
