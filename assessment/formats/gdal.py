"""Restricts what GDAL may open and do, and reads features with it.

The settings are environment variables, because drivers are registered when pyogrio is imported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from assessment.formats import arrow
from switchyard.errors import BadInput

DRIVERS = {
    "ESRI Shapefile", "FlatGeobuf", "GML", "GPKG", "GeoJSON", "LIBKML", "MapInfo File", "OpenFileGDB",
}  # fmt: skip
"""The drivers that GDAL may use; each was added on purpose, with its own hostile files in the tests."""
SKIPPED = (
    "ADBC,AIVector,AVCBin,AVCE00,AmigoCloud,CSV,CSW,Carto,DGN,DXF,EDIGEO,EEDA,ESRIJSON,Elasticsearch,GDALG,GPSBabel,"
    "GPX,GTFS,GeoJSONSeq,GeoRSS,HTTP,Idrisi,JML,JSONFG,KML,LVBAG,MBTiles,MEM,MVT,MapML,MiraMonVector,NGW,OAPIF,ODS,"
    "OGCAPI,OGR_GMT,OGR_PDS,OGR_VRT,OSM,PCIDSK,PDF,PDS4,PGDUMP,PLSCENES,PMTiles,S57,SQLite,SXF,Selafin,TopoJSON,"
    "VDV,VFK,VICAR,WAsP,WFS,XLSX"
)
ENVIRONMENT: Mapping[str, str] = {
    "GDAL_SKIP": SKIPPED,
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",  # GDAL_SKIP alone does not keep /vsicurl/ from the network
    "GDAL_DRIVER_PATH": "disable",
    "GDAL_NUM_THREADS": "1",
    "GML_DOWNLOAD_SCHEMA": "NO",
    "GML_SKIP_RESOLVE_ELEMS": "ALL",
    "OGR_ARC_STEPSIZE": "1",  # degrees: a circle loses 0.005 % of its area
    "OGR_GEOJSON_MAX_OBJ_SIZE": "200",
    "OPENBLAS_NUM_THREADS": "1",
    "PROJ_NETWORK": "OFF",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # Arrow's own reserves more address space than a child has
    "HOME": "/nonexistent",
}
BLOCKED = ("geopandas", "pandas", "pyarrow", "pyproj")
"""Optional imports of pyogrio, not needed for reading; they take three tenths of a second."""
OPTIONS: Mapping[str, Mapping[str, str]] = {"gml": {"WRITE_GFS": "NO"}}
SEVERAL_LAYERS = {"sqlite", "gdb", "kml", "gml"}


class Read(NamedTuple):
    """A layer as GDAL returns it; a geometry (WKB or parsed) is None if it is missing or unreadable."""

    crs: str | None
    shapes: Any
    columns: Mapping[str, Any]


@cache
def check_drivers() -> None:
    """Refuse a GDAL build with drivers that were not reviewed."""
    import pyogrio  # noqa: PLC0415 - only where GDAL is used

    unknown = set(pyogrio.list_drivers()) - DRIVERS
    if unknown:
        raise RuntimeError(f"GDAL may open more than it should: {', '.join(sorted(unknown))}")


def read(
    place: str,
    kind: str,
    layer: str | None,
    most: int,
    encoding: str | None = None,
    *,
    ids: bool = False,
    large: bool = False,
) -> Read:
    """Read at most `most` features of the given layer, or of the only one.

    `ids`: features have their own ids, which are used if there is no attribute `id`. `large`: the file is
    large enough to import pyarrow, which takes a tenth of a second.
    """
    if kind in SEVERAL_LAYERS or layer is not None:
        layer = chosen(place, layer)
    options: dict[str, Any] = {
        "layer": layer, "encoding": encoding, "datetime_as_string": True,
        **OPTIONS.get(kind, {}),
    }  # fmt: skip
    found = arrow.read(place, most, options) if large else None
    crs, fids, shapes, columns = found or _by_feature(place, most, options)
    if ids and "id" not in {name.casefold() for name in columns}:
        columns["id"] = fids
    return Read(_declared(crs), shapes, columns)


def _by_feature(place: str, most: int, options: Mapping[str, Any]) -> arrow.Found:
    import pyogrio.raw  # noqa: PLC0415

    options = {**options, "return_fids": True, "force_2d": True}
    try:
        about, fids, shapes, data = pyogrio.raw.read(place, max_features=most, **options)
    except pyogrio.errors.FeatureError as error:
        # With a limit beyond the file, an unreadable geometry is an error without a row; else it is null.
        if not 0 <= _called(pyogrio.read_info, place, layer=options["layer"])["features"] < most:
            raise _said(place, error) from error
        about, fids, shapes, data = _called(pyogrio.raw.read, place, **options)
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
        raise _said(place, error) from error
    except IndexError as error:  # of the list of layers
        raise BadInput("the file cannot be read: it has no layer, or is damaged") from error
    return about["crs"], fids, shapes, dict(zip(about["fields"].tolist(), data, strict=True))


def chosen(place: str, wanted: str | None) -> str:
    import pyogrio  # noqa: PLC0415

    layers = [str(name) for name, kind in _called(pyogrio.list_layers, place) if kind is not None]
    if wanted is None and len(layers) == 1:
        return layers[0]
    if wanted in layers:
        return wanted
    names = ", ".join(layers[:20]) or "none"
    if wanted is None and layers:
        raise BadInput(f'the file has {len(layers)} feature layers: {names}; name one (--layer, or "layer")')
    raise BadInput(f"one feature layer is needed{f', {wanted}' if wanted else ''}; the file has {names}")


def described(place: str, layer: str) -> tuple[str | None, list[str]]:
    """The coordinate system and the fields of a layer."""
    import pyogrio  # noqa: PLC0415

    about = _called(pyogrio.read_info, place, layer=layer)
    return _declared(about["crs"]), about["fields"].tolist()


def stream(
    place: str, layer: str, columns: Sequence[str], size: int
) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield (WKB, columns as Arrow arrays), `size` features at a time."""
    import pyogrio.raw  # noqa: PLC0415

    options = {"layer": layer, "columns": list(columns), "batch_size": size, "use_pyarrow": True}
    with pyogrio.raw.open_arrow(place, **options) as (about, reader):
        name = about["geometry_name"] or "wkb_geometry"
        for batch in reader:
            yield (
                batch.column(name).to_numpy(zero_copy_only=False),
                {column: batch.column(column) for column in columns},
            )


def _called(call: Callable[..., Any], place: str, **options: Any) -> Any:
    import pyogrio  # noqa: PLC0415

    errors = pyogrio.errors
    try:
        return call(place, **options)
    except (errors.DataSourceError, errors.DataLayerError, errors.FeatureError) as error:
        raise _said(place, error) from error


def _said(place: str, error: Exception) -> BadInput:
    """GDAL's message in one line, without local paths."""
    text = " ".join(str(error).replace(place, "it").replace(place.rpartition("/")[0], "").split())
    if "not recognized as being in a supported file format" in text:
        what = (
            "not a GeoJSON FeatureCollection"
            if place.endswith(("json", "input"))
            else "damaged or incomplete"
        )
        return BadInput(f"the file cannot be read: it is {what}")
    return BadInput(f"the file cannot be read: {text[:300]}")


def _declared(crs: str | None) -> str | None:
    """The declared system, or None if GDAL reports it as unknown or undefined."""
    if crs and ("undefined" in crs.casefold()[:60] or "unknown" in crs.casefold()[:20]):
        return None
    return crs
