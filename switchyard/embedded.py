"""A Postgres of one's own, for `switchyard up` and the tests."""
