"""The SVG shapes that a map consists of. All text is escaped here."""

from html import escape

import shapely

from assessment.report.frame import Frame

Point = tuple[float, float]


def path(geometry: shapely.Geometry, frame: Frame, style: str, title: str | None = None) -> str:
    """A polygon with its holes."""
    rings = shapely.get_rings(shapely.get_parts(geometry))
    if not len(rings):
        return ""
    steps = " ".join(_ring(ring, frame) for ring in rings)
    tip = f"<title>{escape(title)}</title>" if title else ""
    return f'<path class="{style}" d="{steps}">{tip}</path>'


def _ring(ring: shapely.Geometry, frame: Frame) -> str:
    points = frame.points(shapely.get_coordinates(ring))[:-1]
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist()) + "Z"


def text(content: str, at: Point, style: str) -> str:
    return f'<text class="{style}" x="{at[0]:.1f}" y="{at[1]:.1f}">{escape(content)}</text>'


def circle(at: Point, radius: float, style: str, title: str | None = None) -> str:
    tip = f"<title>{escape(title)}</title>" if title else ""
    return f'<circle class="{style}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:.1f}">{tip}</circle>'


def link(to: str, own: str, label: str, content: str) -> str:
    """Shapes that link to a place on the page and are a link target themselves."""
    return f'<a id="{own}" href="#{to}" aria-label="{escape(label)}">{content}</a>'


def second_link(to: str, content: str) -> str:
    """A link for the mouse only: the keyboard and screen readers use the first link to the same place."""
    return f'<a href="#{to}" tabindex="-1" aria-hidden="true">{content}</a>'


def line(points: list[Point], style: str) -> str:
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{style}" points="{steps}"/>'
