"""Results as files: deliver.py writes the tables in the formats asked for, the report, and output.json last.

One file per format (csv.py, geojson.py, geopackage.py, geoparquet.py), listed in formats.py; document.py
makes output.json, which callbacks read.
"""
