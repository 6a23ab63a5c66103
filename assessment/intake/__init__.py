"""Uploads: from an untrusted file to validated sites or ponds.

    fetch.py    a local copy of the file
    reader.py   our side: starts one process with limits per file (jail.py and landlock.py restrict it)
    child.py    that process: reads the file (assessment/formats), then
    accept.py   validates and repairs it: geometry.py, attributes.py
    answer.py   the result of that process as plain arrays; nothing else is returned

`upload.py` is the entry point: the sites or ponds in a file, or one BadInput.
"""
