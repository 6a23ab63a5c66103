"""Uploads: from a file that a stranger made to validated sites or ponds.

    fetch.py    a local copy of the file
    reader.py   our side: one process with limits per file (jail.py, landlock.py say what it may do)
    child.py    the side of that process: read (assessment/formats), then
    accept.py   validate and repair: geometry.py, attributes.py
    answer.py   its answer as plain arrays; nothing else crosses back

`upload.py` is the entrance: sites or ponds of a path, or one BadInput.
"""
