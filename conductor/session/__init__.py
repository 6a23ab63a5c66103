"""The connection that holds the claims.

open.py      opens a session for claims: a direct connection to the primary, with short timeouts
session.py   one statement at a time, with a timeout; when the session is lost, all its claims are lost
protocol.py  libpq in the event loop: prepared statements and notifications, without psycopg's cursors
arrays.py    arrays in the binary form that the server sent
jsonb.py     JSON documents as bytes, decoded per action
"""
