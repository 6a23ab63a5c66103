"""The Python API: submit, follow and control actions, on its own connection or on yours.

    Switchyard, AsyncSwitchyard      the same verbs, blocking (blocking.py) and asynchronous (asynchronous.py)
      -> Statement                   the query of a verb: a named query, its parameters, and how its
                                     rows become the result (statements.py, records.py)
      -> run, run_async              executes it on psycopg, SQLAlchemy or Django (connections.py)

A verb runs on the client's own connection, which is in autocommit, or on the connection that was passed: then
it is part of that transaction, and commits or rolls back with it. Errors of the database become those of
switchyard/errors.py. The results and files of an execution are read from the object store (output.py).
"""
