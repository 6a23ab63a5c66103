"""The pages of the dashboard: templates, style sheet, script, and what they draw.

A route builds one plain record, and the template that it names is given that record. A page is complete
without the script, which replaces regions by newer HTML from the server and shows times in the reader's zone.
`words` writes statuses, times and numbers; `attention` decides what needs somebody. Nothing here queries the
database.
"""
