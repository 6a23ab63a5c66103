"""Programs for maintainers; none of them is shipped."""
