"""The answers of routes: plain data, the same for JSON and for pages. Field names are those of the JSON."""
