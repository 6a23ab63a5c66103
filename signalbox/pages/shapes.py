"""Maps without tiles: shapes on a graticule, as SVG paths.

The script replaces a drawing by a map that can be moved, with the same shapes.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signalbox.pages import words
from signalbox.records.jobs import Job

WIDTH = 640.0
MOST = 500  # shapes on one map
MOST_POINTS = 20_000  # of all shapes together
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 90)
Ring = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape: rings of longitude and latitude, its mark and its tooltip."""

    rings: list[Ring]
    mark: str
    title: str
    href: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shape as a path in the drawing."""

    path: str
    shape: Shape
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A meridian or a parallel with its name."""

    path: str
    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Map:
    """A drawing; `data` are its shapes as JSON, for the script."""

    height: float
    shapes: list[Drawn]
    lines: list[Line]
    data: str
    left_out: int


@dataclass(frozen=True, slots=True)
class Frame:
    """The projection from degrees to the drawing: plate carrée, scaled by the latitude of its middle."""

    west: float
    north: float
    scale: float
    squeeze: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The position of a point in the drawing."""
        return round((x - self.west) * self.squeeze * self.scale, 1), round((self.north - y) * self.scale, 1)


def draw_features(features: Iterable[Mapping[str, Any]], by: str | None = None) -> Map | None:
    """Results on a map, tinted by the number in the property `by`; None if no feature has a geometry."""
    listed = list(features)
    values = [_value(feature, by) for feature in listed]
    known = sorted(abs(value) for value in values if value is not None)
    shapes = [
        Shape(rings, _tint(value, known), _title(feature, by, value), label=str(place))
        for place, (feature, value) in enumerate(zip(listed, values, strict=True), 1)
        if (rings := _rings(feature.get("geometry")))
    ]
    return _draw(shapes)


def draw_footprints(jobs: Iterable[Job], url: Callable[[str], str], asked: str | None = None) -> Map | None:
    """The locations of the inputs of jobs, with links, and the box of the search; None if there are none."""
    shapes = [Shape(rings, "asked", "") for rings in [_asked(asked)] if rings]
    for job in jobs:
        if job.bbox is not None:
            title = f"{job.processID} {words.ending(job.jobID)}: {words.word(job.switchyard.status).lower()}"
            mark = words.shape(job.switchyard.status)
            shapes.append(Shape(_sides(job.bbox), mark, title, url(f"/jobs/{job.jobID}")))
    return _draw(shapes)


def _sides(box: Sequence[float]) -> list[Ring]:
    """A box that is visible however small it is; two boxes if it crosses the antimeridian."""
    west, south, east, north = box
    north = max(north, south + 0.001)
    if west > east:
        return [_box(west, south, 180.0, north), _box(-180.0, south, east, north)]
    return [_box(west, south, max(east, west + 0.001), north)]


def _asked(text: str | None) -> list[Ring]:
    """The box of a search; the route has validated it."""
    parts = [float(part) for part in (text or "").split(",") if part.strip()]
    return _sides(parts) if len(parts) == 4 else []


def _value(feature: Mapping[str, Any], by: str | None) -> float | None:
    found = (feature.get("properties") or {}).get(by) if by else None
    good = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    return float(found) if good and found is not None else None


def _tint(value: float | None, known: Sequence[float]) -> str:
    """The class by thirds of all values: few classes, which can be distinguished without a numeric legend."""
    if value is None:
        return "out"
    if value < 0:
        return "neg"
    place = sum(1 for other in known if other < value) / max(len(known), 1)
    return ("v1", "v2", "v3")[min(int(place * 3), 2)]


def _title(feature: Mapping[str, Any], by: str | None, value: float | None) -> str:
    properties = feature.get("properties") or {}
    name = next((str(properties[key]) for key in ("name", "title", "id") if properties.get(key)), "")
    shown = "" if by is None else f"{by} {words.number(value)}"
    return ": ".join(part for part in (name[:200], shown) if part)


def _rings(geometry: Any) -> list[Ring]:
    """The outlines of a GeoJSON geometry; a point becomes a small square."""
    if not isinstance(geometry, Mapping):
        return []
    if geometry.get("type") == "GeometryCollection":
        return [ring for part in geometry.get("geometries") or [] for ring in _rings(part)]
    return _walk(geometry.get("coordinates"))


def _walk(coordinates: Any) -> list[Ring]:
    if not isinstance(coordinates, list | tuple) or not coordinates:
        return []
    if (point := _point(coordinates)) is not None:
        x, y = point
        return [_box(x - 1e-4, y - 1e-4, x + 1e-4, y + 1e-4)]
    points = [_point(item) for item in coordinates]
    if all(point is not None for point in points):
        return [[point for point in points if point is not None]]
    return [ring for item in coordinates for ring in _walk(item)]


def _point(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) < 2:
        return None
    x, y = value[0], value[1]
    if not all(isinstance(part, int | float) and math.isfinite(part) for part in (x, y)):
        return None
    return max(-180.0, min(180.0, float(x))), max(-90.0, min(90.0, float(y)))


def _box(west: float, south: float, east: float, north: float) -> Ring:
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]


def _draw(shapes: list[Shape]) -> Map | None:
    shown, points = [], 0
    for shape in shapes[:MOST]:
        points += sum(map(len, shape.rings))
        if points > MOST_POINTS:
            break
        shown.append(shape)
    if not shown:
        return None
    frame, height, bounds = _frame([point for shape in shown for ring in shape.rings for point in ring])
    return Map(
        height=height,
        shapes=[_drawn(shape, frame) for shape in shown],
        lines=_graticule(frame, height, bounds),
        data=json.dumps([_data(shape) for shape in shown]),
        left_out=len(shapes) - len(shown),
    )


def _frame(points: Ring) -> tuple[Frame, float, tuple[float, float, float, float]]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    squeeze = max(math.cos(math.radians((min(ys) + max(ys)) / 2)), 0.05)
    wide, high = max((max(xs) - min(xs)) * squeeze, 0.002), max(max(ys) - min(ys), 0.002)
    margin = max(wide, high) * 0.08
    height_share = min(max((high + 2 * margin) / (wide + 2 * margin), 0.45), 0.8)
    full_wide = max(wide + 2 * margin, (high + 2 * margin) / height_share)
    middle_x, middle_y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    full_high = full_wide * height_share
    frame = Frame(middle_x - full_wide / 2 / squeeze, middle_y + full_high / 2, WIDTH / full_wide, squeeze)
    east, south = middle_x + full_wide / 2 / squeeze, middle_y - full_high / 2
    return frame, round(WIDTH * height_share, 1), (frame.west, south, east, frame.north)


def _graticule(frame: Frame, height: float, bounds: tuple[float, float, float, float]) -> list[Line]:
    west, south, east, north = bounds
    step = next((step for step in STEPS if (east - west) / step <= 6), STEPS[-1])
    lines = []
    for degree in _multiples(west, east, step):
        x, _ = frame.at(degree, north)
        lines.append(Line(f"M{x} 0V{height}", _name(degree, step, "E", "W"), x + 4, height - 6))
    for degree in _multiples(south, north, step):
        _, y = frame.at(west, degree)
        lines.append(Line(f"M0 {y}H{WIDTH:.0f}", _name(degree, step, "N", "S"), 4, y - 4))
    return lines


def _multiples(low: float, high: float, step: float) -> list[float]:
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _name(degree: float, step: float, positive: str, negative: str) -> str:
    digits = max(0, -math.floor(math.log10(step)))
    shown = f"{abs(degree):.{digits}f}°"
    return shown if round(degree, 6) == 0 else shown + (positive if degree > 0 else negative)


def _drawn(shape: Shape, frame: Frame) -> Drawn:
    rings = [[frame.at(x, y) for x, y in ring] for ring in shape.rings]
    path = "".join("M" + "L".join(f"{x} {y}" for x, y in ring) for ring in rings)
    xs, ys = [x for ring in rings for x, _ in ring], [y for ring in rings for _, y in ring]
    return Drawn(path, shape, round((min(xs) + max(xs)) / 2, 1), round(min(ys) - 4, 1))


def _data(shape: Shape) -> dict[str, Any]:
    data = {"rings": shape.rings, "mark": shape.mark, "title": shape.title}
    return data | {name: value for name, value in (("href", shape.href), ("label", shape.label)) if value}
