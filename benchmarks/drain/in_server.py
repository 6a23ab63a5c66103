"""One connection that runs a script inside the server on request: python in_server.py SCRIPT drain URL."""

import sys

import psycopg

with psycopg.connect(sys.argv[3], autocommit=True) as connection:
    print("ready", flush=True)
    sys.stdin.readline()
    connection.execute(sys.argv[1].encode())
    sys.stdin.read()  # the connection stays, for its processor time is read at the end
