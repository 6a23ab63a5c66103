"""Results as files: deliver.py writes the tables in the requested formats, the report, and output.json last.

One file per format (csv.py, geojson.py, geopackage.py, geoparquet.py), listed in formats.py; document.py
creates output.json, which callbacks are made from.
"""
