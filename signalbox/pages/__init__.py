"""The pages of the dashboard: templates, style sheet, script and drawings.

A route builds one plain record, and its template renders that record. A page is complete without the
script, which replaces regions by newer HTML from the server and shows times in the reader's zone.
`words` formats statuses, times and numbers; `attention` decides what needs attention. Nothing here queries
the database.
"""
