"""`assessment bundle`: build, check and show a reference bundle; make a sample region or a large layer."""

import json
import sys
from pathlib import Path

import click

from assessment.cli.options import as_json
from switchyard.process.exit import Exit

FOLDER = click.Path(path_type=Path)


@click.group()
def bundle() -> None:
    """Build, check and show a reference bundle."""


def _say(message: str) -> None:
    """Progress of a build: one line, rewritten on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)
    elif not message.endswith("features read"):
        print(message, file=sys.stderr, flush=True)


def _end_of_line() -> None:
    if sys.stderr.isatty():
        print(file=sys.stderr)


@bundle.command(short_help="Build a new version of a bundle from layers and tables.")
@click.argument("folder", type=FOLDER)
@click.argument("sources", type=FOLDER, required=False)
@click.option(
    "-s",
    "--set",
    "sets",
    metavar="NAME=PATH",
    multiple=True,
    help="Where one layer or table is; PATH:INNER inside a GeoPackage or SQLite file.",
)
@as_json
def build(*, folder: Path, sources: Path | None, sets: tuple[str, ...], as_json: bool) -> None:
    """Build a new version in FOLDER and make it current; the last two versions are retained.

    SOURCES is a folder with a file named after each layer and table (GeoPackage, shapefile, GeoParquet,
    GeoJSON; CSV or SQLite for tables), or with a GeoPackage that has them inside. Exits 65 if the quality
    gate reports an error.

    Layers for nutrients: coefficient_layer, wwtw_catchments, lpa_boundaries, nn_catchments, subcatchments,
    and the tables WwTw_lookup and rates_lookup; for newts: gcn_risk_zones, gcn_ponds. All in EPSG:27700.

    \b
    Example: assessment bundle build reference downloads --set coefficient_layer=crome.parquet
    """
    from assessment.bundle.build import build as build_version  # noqa: PLC0415 - numpy and shapely
    from assessment.bundle.sources import Sources, in_folder, merged  # noqa: PLC0415

    named = Sources()
    for word in sets:
        name, _, place = word.partition("=")
        if not place:
            raise click.BadParameter(f"{word!r} is not NAME=PATH")
        named.add(name, place)
    made = build_version(merged(in_folder(sources), named) if sources else named, folder, _say)
    _end_of_line()
    if as_json:
        print(made.as_json(), end="")
        return
    print(f"built version {made.version} in {folder}")
    for finding in made.findings:
        print(finding)


@bundle.command(short_help="Show what a bundle contains.")
@click.argument("folder", type=FOLDER)
@as_json
def show(*, folder: Path, as_json: bool) -> None:
    """Show what a bundle contains: version, layers, tables, and the findings of the quality gate.

    \b
    Example: assessment bundle show reference
    """
    from assessment.bundle.bundle import open_bundle  # noqa: PLC0415

    manifest = open_bundle(folder).manifest
    if as_json:
        print(manifest.as_json(), end="")
        return
    print(f"version {manifest.version}, built {manifest.built_at} by {manifest.code_version}\n")
    print(f"{'layer':<20}{'features':>12}{'pieces':>12}{'vertices':>14}  source")
    for name, layer in manifest.layers.items():
        print(f"{name:<20}{layer.features:>12,}{layer.pieces:>12,}{layer.vertices:>14,}  {layer.source}")
    for name, rows in manifest.tables.items():
        print(f"{name:<20}{rows:>12,} rows")
    for finding in manifest.findings:
        print(finding)


@bundle.command(short_help="Check a bundle's files and content.")
@click.argument("folder", type=FOLDER)
@as_json
def check(*, folder: Path, as_json: bool) -> None:
    """Check a bundle: every file against its hash, its content against the quality gate. Exits 65 on errors.

    \b
    Example: assessment bundle check reference
    """
    from assessment.bundle.check import check as check_bundle  # noqa: PLC0415

    findings = check_bundle(folder)
    bad = any(finding.level == "error" for finding in findings)
    if as_json:
        print(json.dumps({"ok": not bad, "findings": [vars(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            print(finding)
        print("bad: see the errors above" if bad else "good")
    sys.exit(Exit.BAD_INPUT if bad else Exit.OK)


@bundle.command(short_help="Make a sample region with a bundle and sites.")
@click.argument("folder", type=FOLDER)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="A different number gives a different region."
)
def sample(*, folder: Path, seed: int) -> None:
    """Make a sample region: towns, rivers, catchments, works, zones, ponds; its bundle; sites to assess.

    \b
    Example: assessment bundle sample region && assessment run region/sites.geojson -b region/bundle -o out
    """
    from assessment.bundle.sample import write  # noqa: PLC0415

    write(folder, seed, _say)
    _end_of_line()
    print(f"sample region in {folder}: bundle/, sources/, sites.geojson, newt_sites.geojson, ponds.geojson")
