"""`assessment run`: one assessment of a file, from a folder or the store to a folder or the store."""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from assessment.cli.progress import shown
from assessment.cli.summary import summary
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.errors import BadInput, ConfigError

Text = str | None


def run(  # noqa: PLR0917 - a command takes its arguments as people give them
    file: Annotated[
        str | None,
        typer.Argument(
            help="The sites: a zipped shapefile, GeoPackage, GeoJSON or GeoParquet, as a path, a URL or a "
            "key in the store. Without it the request in $SWITCHYARD_INPUT is carried out.",
            show_default=False,
        ),
    ] = None,
    bundle: Annotated[
        Text,
        typer.Option("-b", "--bundle", envvar="SWITCHYARD_BUNDLE", help="The reference bundle's folder."),
    ] = None,
    assessment: Annotated[Text, typer.Option("-a", "--assessment", help="nutrient or gcn.")] = None,
    mode: Annotated[Text, typer.Option("-m", "--mode", help="default or compatible.")] = None,
    edition: Annotated[
        Text, typer.Option("-e", "--edition", help="A, B or C, or FILE.toml with an edition of one's own.")
    ] = None,
    ponds: Annotated[Text, typer.Option("--ponds", help="For gcn: a survey of ponds.")] = None,
    out: Annotated[
        Text, typer.Option("-o", "--out", envvar="SWITCHYARD_OUTPUT", help="A folder or URL for the results.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("-f", "--format", help="csv, gpkg, parquet, geojson or all; repeatable."),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html as well.")] = True,
    store: Annotated[
        Text, typer.Option("--store", envvar="SWITCHYARD_STORE", help="The store that keys are looked up in.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep interim results beside the output, and use those there.")
    ] = False,
    config: ConfigFile = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assess the sites in a file. Exits 65 where the input is wrong, with one message that says what.

    Example: assessment run sites.zip --bundle reference -o results -f csv -f gpkg
    """
    from assessment.cli.task import Words, task  # noqa: PLC0415 - numpy and shapely, which --help need not wait for

    words = Words(
        file=file,
        bundle=bundle,
        assessment=assessment,
        mode=mode,
        edition=edition,
        ponds=ponds,
        out=out or ".",
        formats=tuple(formats or ()),
        report=report,
        store=store or _configured_store(config),
        resume=resume or "SWITCHYARD_OUTPUT" in os.environ,
        request=_request(file),
    )
    with ExitStack() as stack:
        progress = stack.enter_context(shown(quiet=quiet))
        done = task(words, progress, stack)
    summary(done, words.out, as_json=as_json)


def _configured_store(config: Path | None) -> str | None:
    if config is None:
        return None
    from switchyard.config import load  # noqa: PLC0415 - only where a configuration is given

    return load(config).store


def _request(file: str | None) -> dict[str, object] | None:
    """The parameters that conductor left for this execution, where no file is named."""
    place = os.environ.get("SWITCHYARD_INPUT")
    if file is not None:
        return None
    if place is None:
        raise ConfigError("no sites: name a file, or set SWITCHYARD_INPUT to the URL of a request")
    from switchyard.store import locate  # noqa: PLC0415

    found, key = locate(place)
    try:
        content = json.loads(found.get(key, limit=2**22))
    except ValueError as error:
        raise BadInput(f"the request {place} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadInput(f"the request {place} is not a JSON object")
    return content
