"""A generated sample region: two rivers, their catchments, towns with works, fields and newts."""

from dataclasses import dataclass

import numpy as np
import shapely

from assessment.arrays import Floats, Geometries
from assessment.polygonal import only_polygons

WEST, SOUTH, WIDE, HIGH = 412_000.0, 214_000.0, 14_000.0, 9_000.0
TOWNS = ("Aldermouth", "Netherwick", "Great Sallow", "Little Sallow", "Brackham", "Osierford", "Thornby")
BROOKS = ("Upper Alder", "Lower Alder", "Sallow Brook", "Thorn Water", "Osier", "Coastal streams")
COUNCILS = ("Alderdale District", "Sallowshire (B)", "Thornby City")


@dataclass(frozen=True)
class Region:
    """Geometries by kind; towns, brooks and councils are in the order of their names."""

    towns: Geometries
    rivers: Geometries
    brooks: Geometries
    councils: Geometries
    ponds: Geometries


def frame() -> shapely.Geometry:
    return shapely.box(WEST, SOUTH, WEST + WIDE, SOUTH + HIGH)


def region(seed: int) -> Region:
    generator = np.random.default_rng(seed)
    rivers = _rivers(generator)
    return Region(
        towns=_towns(generator),
        rivers=rivers,
        brooks=_bent(_cells(generator, len(BROOKS), 0.3)),
        councils=_bent(_cells(generator, len(COUNCILS), 0.25)),
        ponds=_ponds(generator, rivers),
    )


def _bent(cells: Geometries) -> Geometries:
    """Bend straight borders by shifting all coordinates alike, so that shared borders stay shared."""
    bent: Geometries = shapely.transform(shapely.segmentize(cells, 120.0), _shift)
    return bent


def _shift(coords: Floats) -> Floats:
    """Waves of several lengths that fade out towards the frame."""
    x, y = (coords[:, 0] - WEST) / WIDE, (coords[:, 1] - SOUTH) / HIGH
    calm = np.clip(np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y)) * 12, 0, 1)
    sway = 130 * np.sin(31 * y + 5 * x) + 70 * np.sin(67 * y - 23 * x) + 28 * np.sin(171 * y + 90 * x)
    swing = 130 * np.sin(29 * x + 3 * y) + 70 * np.sin(71 * x + 19 * y) + 28 * np.sin(160 * x - 80 * y)
    shifted: Floats = np.round(coords + np.column_stack((sway, swing)) * calm[:, None], 3)
    return shifted


def _towns(generator: np.random.Generator) -> Geometries:
    """Irregular shapes at a distance from each other; the first ones are larger."""
    middles = _spread(generator, len(TOWNS), 2_600.0, 1_400.0)
    sizes = np.linspace(1_150.0, 420.0, len(TOWNS))
    return _blobs(generator, middles, sizes, 22)


def _spread(generator: np.random.Generator, count: int, apart: float, inside: float) -> Floats:
    """Points in the frame at a minimum distance, which is reduced if there is not enough room."""
    low, high = np.array([WEST, SOUTH]) + inside, np.array([WEST + WIDE, SOUTH + HIGH]) - inside
    kept: list[Floats] = []
    while len(kept) < count:
        point = generator.uniform(low, high)
        if all(np.hypot(*(point - other)) > apart for other in kept):
            kept.append(point)
        apart *= 0.995
    return np.array(kept)


def _blobs(generator: np.random.Generator, middles: Floats, sizes: Floats, corners: int) -> Geometries:
    """Irregular round shapes, one per centre."""
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    wobble = 1 + 0.28 * generator.uniform(-1, 1, (len(middles), corners))
    reach = wobble * sizes[:, None]
    around = np.stack((np.cos(angles) * reach, np.sin(angles) * reach), axis=2) + middles[:, None, :]
    blobs: Geometries = shapely.polygons(np.round(around, 2))
    return blobs


def _rivers(generator: np.random.Generator) -> Geometries:
    """Lines that meander from the west to the coast in the east."""
    along = np.linspace(0, 1, 40)
    lines = []
    for start, end in ((0.75, 0.55), (0.25, 0.42)):
        sway = np.cumsum(generator.normal(0, 0.018, len(along)))
        heights = start + (end - start) * along + sway - sway[-1] * along
        lines.append(np.column_stack((WEST + along * WIDE, SOUTH + heights * HIGH)))
    rivers: Geometries = shapely.linestrings(np.round(np.array(lines), 1))
    return rivers


def _cells(generator: np.random.Generator, count: int, wander: float) -> Geometries:
    """Divide the frame into cells around points: without gaps or overlaps, with shared borders."""
    middles = _spread(generator, count, WIDE * wander, 900.0)
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(middles), extend_to=frame()))
    cut = shapely.intersection(cells, frame())
    owner = [int(np.argmax(shapely.contains(cut, point))) for point in shapely.points(middles)]
    ordered: Geometries = cut[owner]
    return ordered


def _ponds(generator: np.random.Generator, rivers: Geometries) -> Geometries:
    """Ponds, more of them in the valleys."""
    low, high = np.array([WEST, SOUTH]) + 60, np.array([WEST + WIDE, SOUTH + HIGH]) - 60
    points = generator.uniform(low, high, (900, 2))
    far = shapely.distance(shapely.points(points), shapely.union_all(rivers))
    kept = points[generator.uniform(0, 1, len(points)) < np.where(far < 900, 0.75, 0.22)]
    return _blobs(generator, kept, generator.uniform(7, 24, len(kept)), 9)


def risk_zones(made: Region) -> dict[str, shapely.Geometry]:
    """Red where ponds are dense, amber around these areas, green elsewhere; zones share their borders."""
    dense = shapely.union_all(shapely.buffer(made.ponds, 210.0, quad_segs=4))
    red = shapely.intersection(shapely.buffer(shapely.buffer(dense, -170.0), 190.0), frame())
    amber = shapely.difference(shapely.intersection(shapely.buffer(dense, 160.0), frame()), red)
    green = shapely.difference(frame(), shapely.union(red, amber))
    return {"Red": only_polygons(red), "Amber": only_polygons(amber), "Green": only_polygons(green)}
