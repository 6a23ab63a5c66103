-- For untrusted files: no functions from the schema, no writes.
pragma trusted_schema = off;
pragma query_only = on;
