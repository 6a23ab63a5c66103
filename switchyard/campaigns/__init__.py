"""Campaigns: reading the items of a source into the database, from which conductors submit them.

    page.py    the interface of a source: pages of items with ids, and a cursor for the next page
    lines.py   a file of JSON lines          table.py   a SQL query          catalogue.py   a STAC search
    feed.py    reads page after page and stores each with its cursor (migrations/current/campaigns.sql)

A source is read with the rights of the user who runs the command, never by conductor.
"""
