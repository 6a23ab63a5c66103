"""The stream of pages: poller.py knows who watches what, regions.py renders it again."""
