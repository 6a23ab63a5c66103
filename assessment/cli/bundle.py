"""`assessment bundle`: build, check and show a reference bundle; make a sample region or a large layer."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from switchyard.cli.options import AsJson
from switchyard.runtime.exit import Exit

bundle = typer.Typer(
    help="Build, check and show a reference bundle.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Folder = Annotated[Path, typer.Argument(help="The bundle's folder, which keeps its last two versions.")]


def _say(message: str) -> None:
    """Progress of a build: one line, rewritten on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)
    elif not message.endswith("features read"):
        print(message, file=sys.stderr, flush=True)


@bundle.command()
def build(
    folder: Folder,
    sources: Annotated[
        Path | None,
        typer.Argument(help="A folder with files named after the layers and tables.", show_default=False),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("-s", "--set", metavar="NAME=PATH", help="Where one layer or table is; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a new version from layers and tables, and make it current. Exits 65 where the gate says no.

    Example: assessment bundle build reference downloads/ --set coefficient_layer=crome.parquet
    """
    from assessment.bundle.build import build as build_version  # noqa: PLC0415 - numpy and shapely
    from assessment.bundle.sources import Sources, in_folder, merged  # noqa: PLC0415

    named = Sources()
    for word in sets or ():
        name, _, place = word.partition("=")
        if not place:
            raise typer.BadParameter(f"{word!r} is not NAME=PATH")
        named.add(name, place)
    made = build_version(merged(in_folder(sources), named) if sources else named, folder, _say)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if as_json:
        print(made.as_json(), end="")
        return
    print(f"built version {made.version} in {folder}")
    for finding in made.findings:
        print(finding)


@bundle.command()
def show(folder: Folder, as_json: AsJson = False) -> None:
    """Show what a bundle holds: version, layers, tables, and what the gate said.

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
    print()
    for finding in manifest.findings:
        print(finding)


@bundle.command()
def check(folder: Folder, as_json: AsJson = False) -> None:
    """Check a bundle: every file against its hash, its content against the gate. Exits 65 where it is bad.

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
    raise typer.Exit(Exit.BAD_INPUT if bad else Exit.OK)


@bundle.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Where to put the sample region.")],
    seed: Annotated[int, typer.Option(help="Another number gives another region.")] = 1,
) -> None:
    """Make a sample region: towns, rivers, catchments, works, zones, ponds; its bundle; sites to assess.

    Example: assessment bundle sample region && assessment run region/sites.geojson -b region/bundle -o out
    """
    from assessment.bundle.sample import write  # noqa: PLC0415

    write(folder, seed, _say)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"sample region in {folder}: bundle/, sources/, sites.geojson, newt_sites.geojson, ponds.geojson")


@bundle.command()
def scale(
    file: Annotated[Path, typer.Argument(help="The GeoParquet file to write.")],
    parcels: Annotated[int, typer.Option(help="How many parcels.", min=1)] = 5_459_418,
    seed: Annotated[int, typer.Option(help="Another number gives other parcels.")] = 6,
) -> None:
    """Write a synthetic coefficient layer of production size, for benchmarks.

    Example: assessment bundle scale parcels.parquet
    """
    from assessment.bundle.scale import Ground, write  # noqa: PLC0415

    write(file, Ground(parcels=parcels, seed=seed))
    print(f"{parcels:,} parcels in {file}")
