"""The stream of pages: poller.py keeps track of the watchers, regions.py renders regions again."""
