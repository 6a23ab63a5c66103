"""The folders that are served under /static; Leaflet comes in a package of its own."""

from pathlib import Path

from xstatic.pkg import leaflet

FOLDERS = {
    "/static/leaflet": Path(leaflet.BASE_DIR),
    "/static": Path(__file__).parent / "static",
}
