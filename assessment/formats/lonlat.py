"""Convert National Grid metres to longitude and latitude without PROJ, which takes longer to load than a site
takes to assess.

The projection is inverted with Krueger's series to the fourth order (accurate to a micrometre on the grid),
then OSGB36 is transformed to WGS 84 with the seven parameters of EPSG:1314. PROJ does the same if it has no
correction grid; the result is accurate to about 2 m on the ground.
"""

import math

import numpy as np

from assessment.arrays import Floats

_AIRY = (6_377_563.396, 299.3249646)
_WGS84 = (6_378_137.0, 298.257223563)
_SCALE, _ORIGIN = 0.9996012717, (math.radians(-2.0), math.radians(49.0))
_FALSE = (400_000.0, -100_000.0)

_N = 1 / (2 * _AIRY[1] - 1)
_RADIUS = _AIRY[0] / (1 + _N) * (1 + _N**2 / 4 + _N**4 / 64) * _SCALE

# sums of sines of 2, 4, 6, 8 times an angle, after Karney (2011), "Transverse Mercator with an accuracy of a
# few nanometers"
_TO_CONFORMAL = (
    _N / 2 - 2 * _N**2 / 3 + 37 * _N**3 / 96 - _N**4 / 360,
    _N**2 / 48 + _N**3 / 15 - 437 * _N**4 / 1440,
    17 * _N**3 / 480 - 37 * _N**4 / 840,
    4397 * _N**4 / 161_280,
)
_TO_GEODETIC = (
    2 * _N - 2 * _N**2 / 3 - 2 * _N**3 + 116 * _N**4 / 45,
    7 * _N**2 / 3 - 8 * _N**3 / 5 - 227 * _N**4 / 45,
    56 * _N**3 / 15 - 136 * _N**4 / 35,
    4279 * _N**4 / 630,
)
_TO_RECTIFYING = (
    -3 * _N / 2 + 9 * _N**3 / 16,
    15 * _N**2 / 16 - 15 * _N**4 / 32,
    -35 * _N**3 / 48,
    315 * _N**4 / 512,
)

_SHIFT = (446.448, -125.157, 542.06)
_TURN = tuple(math.radians(seconds / 3600) for seconds in (0.15, 0.247, 0.842))
_STRETCH = 1 - 20.489e-6


def from_grid(coords: Floats) -> Floats:
    """Convert (easting, northing) rows to (longitude, latitude) rows, in degrees."""
    longitude, latitude = _on_airy(coords[:, 0], coords[:, 1])
    there = _geographic(*_helmert(*_geocentric(longitude, latitude)))
    return np.degrees(np.column_stack(there))


def _on_airy(east: Floats, north: Floats) -> tuple[Floats, Floats]:
    """Invert the transverse Mercator projection."""
    start = _ORIGIN[1] + sum(c * math.sin(2 * k * _ORIGIN[1]) for k, c in enumerate(_TO_RECTIFYING, 1))
    xi = (north - _FALSE[1]) / _RADIUS + start
    eta = (east - _FALSE[0]) / _RADIUS
    up, across = xi.copy(), eta.copy()
    for k, c in enumerate(_TO_CONFORMAL, 1):
        up -= c * np.sin(2 * k * xi) * np.cosh(2 * k * eta)
        across -= c * np.cos(2 * k * xi) * np.sinh(2 * k * eta)
    conformal = np.arcsin(np.sin(up) / np.cosh(across))
    latitude = conformal + sum(c * np.sin(2 * k * conformal) for k, c in enumerate(_TO_GEODETIC, 1))
    return _ORIGIN[0] + np.arctan2(np.sinh(across), np.cos(up)), latitude


def _geocentric(longitude: Floats, latitude: Floats) -> tuple[Floats, Floats, Floats]:
    """Geocentric coordinates on the Airy ellipsoid, at height 0."""
    squared = _eccentricity(_AIRY)
    normal = _AIRY[0] / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    flat = normal * np.cos(latitude)
    return (flat * np.cos(longitude), flat * np.sin(longitude), normal * (1 - squared) * np.sin(latitude))


def _helmert(x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    rx, ry, rz = _TURN
    return (
        _SHIFT[0] + _STRETCH * (x - rz * y + ry * z),
        _SHIFT[1] + _STRETCH * (rz * x + y - rx * z),
        _SHIFT[2] + _STRETCH * (-ry * x + rx * y + z),
    )


def _geographic(x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Geographic coordinates on WGS 84, by Bowring's formula, which is exact enough near the ground."""
    squared = _eccentricity(_WGS84)
    polar = _WGS84[0] * math.sqrt(1 - squared)
    flat = np.hypot(x, y)
    reduced = np.arctan2(z * _WGS84[0], flat * polar)
    rise = z + squared / (1 - squared) * polar * np.sin(reduced) ** 3
    return np.arctan2(y, x), np.arctan2(rise, flat - squared * _WGS84[0] * np.cos(reduced) ** 3)


def _eccentricity(ellipsoid: tuple[float, float]) -> float:
    """The squared eccentricity of an ellipsoid."""
    flattening = 1 / ellipsoid[1]
    return flattening * (2 - flattening)
