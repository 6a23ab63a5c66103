-- A stranger's file: no functions from its schema, no writes.
pragma trusted_schema = off;
pragma query_only = on;
