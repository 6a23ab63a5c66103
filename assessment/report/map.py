"""The map of a report as inline SVG: background layers, then the sites, then a legend and a scale."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import shapely

from assessment.arrays import Bools, Floats
from assessment.bundle.bundle import Bundle
from assessment.polygonal import only_polygons
from assessment.report import svg
from assessment.report.background import outlines
from assessment.report.frame import HEIGHT, MOST, WIDTH, Frame, around, densest, round_length
from assessment.report.labels import places
from assessment.results import Results
from assessment.sites import Sites

SMALL = 9.0
"""A site smaller than this many units also gets a dot, so that it can be found."""
CATCHMENT_STYLES = 6
LETTER = 9.0
"""The approximate maximum width, in units, of a letter in a catchment's name."""
ZONE_STYLES = {"Green": "zone-green", "Amber": "zone-amber", "Red": "zone-red"}
PATTERNS = Path(__file__).with_name("patterns.svg")
"""Red zones are hatched and amber ones dotted, because not everyone can distinguish the colours."""


def draw(results: Results, sites: Sites, bundle: Bundle) -> str:
    """The map, and a second one of its densest part if numbers would not be legible there."""
    shown = results.shapes.get("buffer", sites.geometry)
    frame = around(shown)
    middles = shapely.get_coordinates(shapely.centroid(sites.geometry))
    inner = densest(frame, middles)
    patterns = PATTERNS.read_text() if results.assessment == "gcn" else ""
    if inner is None:
        return patterns + _map(results, sites, bundle, frame, np.ones(len(sites), dtype=bool))
    within = inner.holds(middles)
    whole = patterns + _map(results, sites, bundle, frame, ~within, inner)
    return whole + _map(results, sites, bundle, inner, within)


def _map(
    results: Results, sites: Sites, bundle: Bundle, frame: Frame, numbered: Bools, inner: Frame | None = None
) -> str:
    """One <svg> element, with the numbers of the sites in `numbered`; another map draws the area `inner`."""
    legend: dict[str, str] = {}
    parts = [f'<rect class="ground" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"/>']
    under = (
        _gcn(results, bundle, frame, legend)
        if results.assessment == "gcn"
        else _nutrient(bundle, sites, frame, legend)
    )
    parts += [*under, *_sites(results, sites, frame, legend, numbered)]
    title = f"Map of {len(sites)} site{'s' if len(sites) != 1 else ''}"
    if inner is not None:
        parts.append(svg.path(inner.box, frame, "inner", "The second map"))
        legend["See the second map"] = "inner"
    elif not numbered.all():
        title = f"Map of the densest part, {numbered.sum()} sites"
    shown = results.shapes.get("buffer", sites.geometry)
    parts += [*_scale_bar(frame), *_north(), *_legend(legend, frame.points(shapely.get_coordinates(shown)))]
    return (
        f'<svg class="map" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="group" aria-label="{title}">'
        + "".join(parts)
        + "</svg>"
    )


def _nutrient(bundle: Bundle, sites: Sites, frame: Frame, legend: dict[str, str]) -> Iterator[str]:
    catchments = outlines(bundle, "nn_catchments", "N2K_Site_N", frame)
    for k, (name, ground) in enumerate(catchments.items()):
        style = f"catchment c{k % CATCHMENT_STYLES}"
        legend[name or "Nutrient catchment"] = style
        yield svg.path(ground, frame, style, name)
    yield from _names(catchments, sites, frame)
    for layer, column, style, words in (
        ("wwtw_catchments", "WwTw_ID", "works", "Works' catchment"),
        ("lpa_boundaries", "NAME", "authority", "Planning authority"),
    ):
        for name, ground in outlines(bundle, layer, column, frame).items():
            legend[words] = style
            yield svg.path(ground, frame, style, f"{words}: {name}")


def _gcn(results: Results, bundle: Bundle, frame: Frame, legend: dict[str, str]) -> Iterator[str]:
    """The zones, faint everywhere, and in full colour where they count."""
    for zone, ground in outlines(bundle, "gcn_risk_zones", "RZ", frame).items():
        yield svg.path(ground, frame, f"{ZONE_STYLES.get(zone, '')} faint", f"{zone} risk zone")
    for zone, style in ZONE_STYLES.items():
        if zone in results.shapes:
            legend[f"{zone} risk zone"] = style
            yield svg.path(frame.visible(results.shapes[zone])[0], frame, style, f"{zone} risk zone")
    legend["Within 250 m"] = "buffer"
    yield svg.path(frame.visible(results.shapes["buffer"])[0], frame, "buffer", "Within 250 m of a site")
    for pond in frame.visible(results.shapes["ponds"]):
        legend["Pond"] = "pond"
        yield svg.path(pond, frame, "pond", "Pond")


def _sites(
    results: Results, sites: Sites, frame: Frame, legend: dict[str, str], numbered: Bools
) -> list[str]:
    """Sites with numbers are links to their rows. Lines to numbers are below all sites, numbers above."""
    out = results.tables.get("out_of_scope")
    outside = {row["RLB_ID"] for row in out.rows} if out else set()
    middles = frame.points(shapely.get_coordinates(shapely.centroid(sites.geometry)))
    bounds = shapely.bounds(sites.geometry) * frame.scale
    across = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1])
    chosen = np.flatnonzero(numbered).tolist() if len(sites) <= MOST else []
    of_number = places([sites.number[k] for k in chosen], middles[chosen], (WIDTH, HEIGHT), _furniture(frame))
    found = dict(zip(chosen, of_number, strict=True))
    leaders, plain, links, numbers = [], [], [], []
    for k, ground in enumerate(frame.visible(sites.geometry)):
        number, middle = sites.number[k], (float(middles[k, 0]), float(middles[k, 1]))
        style, words = ("site out", "Site out of scope") if number in outside else ("site", "Site")
        title = f"Site {number}: {sites.name[k] or sites.id[k] or ''}".rstrip(": ")
        shapes = svg.path(ground, frame, style, title)
        if across[k] < SMALL:
            shapes += _dot(middle, style, title)
        if shapes:
            legend[words] = style
        if k not in found:
            link = numbered[k] and len(sites) > MOST
            plain.append(svg.link(f"site-{number}", f"map-{number}", title, shapes) if link else shapes)
            continue
        (x, y), led = found[k]
        if led:
            leaders.append(svg.line([middle, (float(x), float(y))], "leader"))
        links.append(svg.link(f"site-{number}", f"map-{number}", title, shapes))
        text = svg.text(str(number), (float(x), float(y) + 3.4), "number")
        numbers.append(svg.second_link(f"site-{number}", text))
    return [*plain, *leaders, *links, *numbers]


def _dot(middle: svg.Point, style: str, title: str) -> str:
    """A dot for a site that would be too small to find, if it is in the frame."""
    x, y = middle
    return svg.circle(middle, 2.6, style, title) if 0 <= x <= WIDTH and 0 <= y <= HEIGHT else ""


def _names(catchments: Mapping[str, shapely.Geometry], sites: Sites, frame: Frame) -> Iterator[str]:
    """Names of catchments within their area, where the sites leave room."""
    for name, ground in catchments.items():
        room = np.array([len(name) * LETTER / 2 + 4, 25]) / frame.scale
        bounds = shapely.bounds(sites.geometry)
        taken = shapely.union_all(shapely.box(*(bounds[:, :2] - room).T, *(bounds[:, 2:] + room).T))
        free = only_polygons(shapely.difference(ground, taken))
        if shapely.area(free) * frame.scale**2 > 12_000:
            x, y = frame.points(shapely.get_coordinates(_inner(free)))[0].tolist()
            yield svg.text(name, (x, y), "name")


def _inner(ground: shapely.Geometry) -> shapely.Geometry:
    """A point well inside the largest part, with room for a name."""
    parts = shapely.get_parts(ground)
    largest = parts[int(np.argmax(shapely.area(parts)))]
    return shapely.get_point(shapely.maximum_inscribed_circle(shapely.simplify(largest, 50.0), 100.0), 0)


def _hidden(points: Floats, x: float, y: float, *, wide: float, high: float) -> int:
    """The number of points under a box, including a margin."""
    low, size = np.array([x, y]) - 8, np.array([wide, high]) + 16
    return int(((points >= low) & (points <= low + size)).all(axis=1).sum())


def _furniture(frame: Frame) -> Floats:
    """The boxes of the scale and the north arrow."""
    length = round_length(WIDTH / frame.scale / 5) * frame.scale
    return np.array([[10, HEIGHT - 42, 26 + length, HEIGHT], [WIDTH - 38, 12, WIDTH - 14, 70]])


def _scale_bar(frame: Frame) -> Iterator[str]:
    metres = round_length(WIDTH / frame.scale / 5)
    length, base = metres * frame.scale, HEIGHT - 18
    yield svg.line([(18, base - 5), (18, base), (18 + length, base), (18 + length, base - 5)], "scale")
    words = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    yield svg.text(words, (18 + length / 2, base - 7), "scale-text")


def _north() -> Iterator[str]:
    x, y = WIDTH - 26, 20
    yield svg.line([(x, y + 30), (x, y), (x - 6, y + 10), (x, y), (x + 6, y + 10)], "scale")
    yield svg.text("N", (x, y + 44), "scale-text")


def _legend(entries: Mapping[str, str], points: Floats) -> Iterator[str]:
    """The legend, in the lower right, or in the upper left if it hides fewer points there."""
    high = 20 * len(entries) + 14
    wide = max(len(words) for words in entries) * 7.0 + 48
    corners = [(WIDTH - wide - 14, HEIGHT - high - 14), (14.0, 14.0)]
    x, y = min(corners, key=lambda corner: _hidden(points, *corner, wide=wide, high=high))
    yield f'<rect class="legend" x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high}" rx="4"/>'
    for k, (words, style) in enumerate(entries.items()):
        top = y + 10 + 20 * k
        yield f'<rect class="{style}" x="{x + 10:.0f}" y="{top:.0f}" width="20" height="12"/>'
        yield svg.text(words, (x + 38, top + 10), "legend-text")
