"""Build a bundle version: read each layer once as a stream, arrange and check it, then publish."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from assessment.bundle import gate, manifest, versions
from assessment.bundle.arrange import arrange
from assessment.bundle.bundle import LOOKUPS
from assessment.bundle.layer import Layer, open_layer
from assessment.bundle.manifest import Finding, LayerEntry, Manifest
from assessment.bundle.npy import digest, save
from assessment.bundle.overlaps import overlapping
from assessment.bundle.schema import LAYERS, ON_GRID, TABLES, find_column, layer_columns
from assessment.bundle.sources import Sources
from assessment.bundle.spool import Spool
from assessment.formats.crs import is_grid
from assessment.formats.layers import LayerSource
from assessment.formats.tables import read_table
from switchyard import __version__
from switchyard.errors import BadInput

Say = Callable[[str], None]


def build(sources: Sources, home: Path, say: Say) -> Manifest:
    """Build a version and publish it in `home`; BadInput, and nothing published, on errors of the gate."""
    if not sources.layers:
        raise BadInput("no layer to build a bundle from")
    home.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=versions.BUILDING, dir=home))
    work.chmod(0o755)  # a worker may run as another user than the builder
    try:
        made = _build_in(work, sources, _previous(home), say)
        (work / manifest.FILE).write_text(made.as_json())
        versions.publish(home, work, made.version)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return made


def _previous(home: Path) -> Manifest | None:
    folder = versions.current(home)
    return manifest.read(folder) if folder else None


def _build_in(work: Path, sources: Sources, previous: Manifest | None, say: Say) -> Manifest:
    entries: dict[str, LayerEntry] = {}
    layers: dict[str, Layer] = {}
    findings: list[Finding] = []
    for name in (name for name in LAYERS if name in sources.layers):
        entries[name], layers[name], said = _layer(work, name, *sources.layers[name], say)
        findings += said
    tables = {name: _table(name, *place) for name, place in sources.tables.items()}
    (work / LOOKUPS).write_text(json.dumps(tables, indent=1, default=str) + "\n")
    say("checking")
    findings += inspect(layers, tables, previous)
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        raise BadInput("; ".join(f"{finding.subject}: {finding.message}" for finding in errors))
    files = {str(path.relative_to(work)): digest(path) for path in sorted(work.rglob("*")) if path.is_file()}
    return Manifest(
        version=_version(files),
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        code_version=__version__,
        layers=entries,
        tables={name: len(rows) for name, rows in tables.items()},
        files=files,
        findings=findings,
    )


def _version(files: Mapping[str, str]) -> str:
    """A version name from date and content: the same sources on the same day have the same version."""
    content = sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:12]
    return f"{datetime.now(UTC):%Y%m%d}-{content}"


def _layer(
    work: Path, name: str, path: Path, inner: str | None, say: Say
) -> tuple[LayerEntry, Layer, list[Finding]]:
    source = LayerSource(path, inner)
    if source.crs is None or not is_grid(source.crs):
        raise BadInput(
            f"{name}: the coordinate system is {source.crs or 'not declared'}; EPSG:27700 is needed"
        )
    names = layer_columns(name, source.fields)
    folder = work / name
    folder.mkdir()
    kinds_of = {column: LAYERS[name][column] for column in names}
    spool = Spool(work / f"{name}.vertices", kinds_of, on_grid=name in ON_GRID)
    for batch in source.batches(list(names.values())):
        spool.add(batch, names)
        say(f"{name}: {spool.features:,} features read")
    say(f"{name}: sorting")
    levels = arrange(spool, folder)
    spool.vertices.unlink(missing_ok=True)
    kinds = {column: "number" if kind == "number" else "text" for column, kind in spool.kinds.items()}
    entry, layer = _with_overlaps(folder, name, kinds, levels=levels, source=path.name, say=say)
    return entry, layer, list(_of_spool(name, spool, entry))


def _with_overlaps(
    folder: Path, name: str, kinds: Mapping[str, str], *, levels: int, source: str, say: Say
) -> tuple[LayerEntry, Layer]:
    """Find the overlaps in the arranged layer, and store them with the layer."""
    say(f"{name}: looking for overlaps")
    layer = open_layer(folder, name, kinds, levels, compared=False)
    found = overlapping(layer)
    save(folder / "overlaps.npy", found)
    boxes = layer.levels[-1]
    bounds = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist()) if len(boxes) else None
    entry = LayerEntry(
        features=len(layer),
        pieces=len(layer.feature),
        vertices=len(layer.coords),
        levels=levels,
        columns=dict(kinds),
        source=source,
        overlapping=int(found.sum()),
        bounds=bounds,
    )
    return entry, replace(layer, overlaps=found)


def _of_spool(name: str, spool: Spool, entry: LayerEntry) -> Iterator[Finding]:
    """Findings about how the layer was read, for users of the bundle."""
    if not entry.pieces:
        yield Finding("error", name, "no feature has any area")
    if spool.repaired:
        yield Finding("warning", name, f"{spool.repaired:,} invalid geometries were repaired")
    if spool.empty:
        yield Finding("warning", name, f"{spool.empty:,} features have no area")
    if entry.overlapping and name in ("coefficient_layer", "nn_catchments"):
        yield Finding("warning", name, f"{entry.overlapping:,} pieces overlap others")


def _table(name: str, path: Path, inner: str | None) -> list[dict[str, Any]]:
    """The rows of a lookup table, with our column names."""
    rows = read_table(path, name, inner)
    if not rows:
        raise BadInput(f"{name}: {path.name} has no rows")
    found = {column: find_column(column, rows[0], aliases) for column, aliases in TABLES[name].items()}
    missing = [column for column, source in found.items() if source is None]
    if missing:
        raise BadInput(f"{name}: the column {', '.join(missing)} is missing in {path.name}")
    return [{column: row.get(str(source)) for column, source in found.items()} for row in rows]


def inspect(
    layers: Mapping[str, Layer], tables: Mapping[str, list[dict[str, Any]]], previous: Manifest | None
) -> list[Finding]:
    """All findings of the quality gate for a bundle's content."""
    findings = list(gate.shrunk({name: len(layer) for name, layer in layers.items()}, previous))
    if "coefficient_layer" in layers:
        findings += gate.coefficients(layers["coefficient_layer"])
    if "gcn_risk_zones" in layers:
        findings += gate.zones(layers["gcn_risk_zones"])
    if "WwTw_lookup" in tables:
        findings += gate.works(tables["WwTw_lookup"], layers.get("wwtw_catchments"))
    if "rates_lookup" in tables:
        findings += gate.rates(tables["rates_lookup"], layers.get("nn_catchments"))
    return findings
