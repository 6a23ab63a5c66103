"""Campaigns: reading the items of a source into the database, from where conductors submit them.

    page.py    what a source gives: items with ids, and a cursor from which to go on
    lines.py   a file of JSON lines          table.py   a SQL query          catalogue.py   a STAC search
    feed.py    reads page after page and stores each with its cursor (migrations/current/campaigns.sql)

A source is read with the rights of whoever runs the command, never by conductor.
"""
