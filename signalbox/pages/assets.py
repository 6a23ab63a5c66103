"""The folders that are served under /static; Leaflet comes from a separate package."""

from pathlib import Path

from xstatic.pkg import leaflet

FOLDERS = {
    "/static/leaflet": Path(leaflet.BASE_DIR),
    "/static": Path(__file__).parent / "static",
}
