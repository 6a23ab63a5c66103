"""The database as the programs use it.

connect.py    opens a connection; pooling.py checks that it leads to the server itself
queries.py    named queries from queries/, one .sql file per subject
jsonb.py      limits of what is stored as JSON; clean.py makes what a backend reports fit for it
errors.py     psycopg's errors as ours, and what one row's error means for others
migrate.py    the schema of this version (migrations/); rights.py: what its user may not do
doctor.py     what could keep a database from serving, and what to do about it
"""
