"""`assessment run`: one assessment of a file, from a folder or the store to a folder or the store."""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from assessment.cli.options import as_json, config_file
from assessment.cli.progress import shown
from switchyard.errors import BadInput, ConfigError


@click.command(short_help="Assess the sites in a file.")
@click.argument("file", required=False)
@click.option(
    "-b", "--bundle", envvar="SWITCHYARD_BUNDLE", help="The reference bundle's folder; or $SWITCHYARD_BUNDLE."
)
@click.option("-a", "--assessment", help="nutrient (the default) or gcn.")
@click.option("-m", "--mode", help="default or compatible.")
@click.option("-e", "--edition", help="A, B or C, or FILE.toml with a custom edition.")
@click.option("--layer", help="Which layer of FILE holds the sites, where it has several.")
@click.option("--ponds", help="For gcn: a survey of ponds.")
@click.option(
    "-o",
    "--out",
    envvar="SWITCHYARD_OUTPUT",
    default=".",
    show_default="here",
    help="A folder or URL for the results.",
)
@click.option(
    "-f", "--format", "formats", multiple=True, help="csv, gpkg, parquet, geojson or all; repeatable."
)
@click.option("--report/--no-report", default=True, help="Write report.html as well.")
@click.option(
    "--allow-url",
    multiple=True,
    envvar="SWITCHYARD_ALLOW_URL",
    help="A prefix of URLs that a request may name, besides the store's; repeatable.",
)
@click.option("--store", envvar="SWITCHYARD_STORE", help="The store that keys are looked up in.")
@click.option(
    "--resume", is_flag=True, help="Store interim results beside the output, and reuse existing ones."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@config_file
@as_json
def run(*, config: str | None, quiet: bool, as_json: bool, **said: Any) -> None:
    """Assess the sites in FILE: a zipped shapefile, GeoPackage, GeoJSON, GeoParquet, FlatGeobuf, KML or GML.

    FILE is a path, a URL, or a key in the store. Without it the request in $SWITCHYARD_INPUT is used.
    Exits 65 with one message if the input is invalid.

    \b
    Example: assessment run sites.zip --bundle reference -o results -f csv -f gpkg
    """
    from assessment.intake.reader import shared_reader  # noqa: PLC0415 - only a run reads files

    shared_reader().start()  # it imports GDAL while this process imports its own modules
    # these import numpy and shapely, which --help does not need
    from assessment.cli.summary import summary  # noqa: PLC0415
    from assessment.cli.task import Words, task  # noqa: PLC0415

    said["store"] = said["store"] or _configured_store(config)
    said["resume"] = said["resume"] or "SWITCHYARD_OUTPUT" in os.environ
    words = Words(**said, request=_request(said["file"]))
    with ExitStack() as stack:
        progress = stack.enter_context(shown(quiet=quiet))
        done = task(words, progress, stack)
    summary(done, words.out, as_json=as_json)


def _configured_store(config: str | None) -> str | None:
    if config is None:
        return None
    from switchyard.config.load import load  # noqa: PLC0415 - only where a configuration is given

    return load(Path(config)).store


def _request(file: str | None) -> dict[str, object] | None:
    """The parameters that conductor stored for this execution; only used if no file is given."""
    place = os.environ.get("SWITCHYARD_INPUT")
    if file is not None:
        return None
    if place is None:
        raise ConfigError("no sites: name a file, or set SWITCHYARD_INPUT to the URL of a request")
    from switchyard.store import locate  # noqa: PLC0415

    found, key = locate(place)
    try:
        content = json.loads(found.get(key, limit=2**22))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the request {place} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadInput(f"the request {place} is not a JSON object")
    return content
