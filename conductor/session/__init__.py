"""The connection that holds the claims.

open.py      opens a session that claims may be made on: a primary, reached directly, with short time limits
session.py   one statement at a time, with a limit on silence; when it is lost, everything it held is lost
protocol.py  libpq in the event loop: prepared statements and notifications, without psycopg's cursors
arrays.py    arrays as the bytes that the server sent
jsonb.py     documents as bytes, decoded per action
"""
