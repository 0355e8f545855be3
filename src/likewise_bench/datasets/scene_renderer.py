"""Render a batch of scenes: one coloured shape on one background, antialiased.

All arithmetic is on arrays in double precision, so that the same random numbers give the same
bytes on every machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.str_]

#: Points and inner radius (outer = 1) of each shape; every shape is drawn as a star polygon.
SHAPES: Mapping[str, tuple[int, float]] = {
    "disc": (48, float(np.cos(np.pi / 48))),
    "square": (4, float(np.cos(np.pi / 4))),
    "triangle": (3, 0.5),
    "star": (5, 0.45),
}
COLOURS: Mapping[str, Sequence[float]] = {
    "red": (0.82, 0.16, 0.15),
    "yellow": (0.97, 0.84, 0.18),
    "blue": (0.13, 0.22, 0.68),
    "black": (0.10, 0.10, 0.11),
}
#: Both colours of each background.
BACKGROUNDS: Mapping[str, Sequence[Sequence[float]]] = {
    "sky": ((0.33, 0.60, 0.88), (0.84, 0.92, 0.98)),
    "stripes": ((0.93, 0.88, 0.76), (0.78, 0.60, 0.45)),
    "tiles": ((0.88, 0.88, 0.90), (0.60, 0.62, 0.66)),
    "meadow": ((0.28, 0.52, 0.24), (0.58, 0.76, 0.38)),
}
#: Range of the radius, in pixels, of the disc with the area of the shape.
SIZES: Mapping[str, tuple[float, float]] = {"small": (7.5, 9.5), "large": (13.0, 15.5)}
PIXELS = 64
_FINE = 2  # each pixel is the mean of _FINE x _FINE points
_REACH = 1.56  # largest outer radius of a shape, relative to the disc of the same area


@dataclass(frozen=True)
class Draws:
    """Random parameters of each image, uniform in [0, 1); rows are images."""

    pose: Floats  # (b, 5) rotation, x, y, size, direction of the light
    texture: Floats  # (b, 4) rotation, period, two phases
    tint: Floats  # (b, 3, 3) shape and both background colours
    patches: Floats  # (b, 9, 9) the meadow
    grain: Floats  # (b, PIXELS, PIXELS)

    @classmethod
    def make(cls, rng: np.random.Generator, n: int) -> "Draws":
        """Draw the parameters of `n` images."""
        shapes = ((5,), (4,), (3, 3), (9, 9), (PIXELS, PIXELS))
        return cls(*(rng.random((n, *shape)) for shape in shapes))


def paint(shapes: Texts, colours: Texts, backgrounds: Texts, sizes: Texts, draws: Draws) -> Floats:
    """Return images (b, PIXELS, PIXELS, 3) with values in [0, 1]; names are keys of the tables."""
    tint = (draws.tint - 0.5) * 0.14
    fill = np.array([COLOURS[name] for name in colours]) + tint[:, 0]  # (b, 3)
    ground = np.array([BACKGROUNDS[name] for name in backgrounds]) + tint[:, 1:]  # (b, 2, 3)
    across, down = _positions()
    cover, light = (_coarse(part)[..., None] for part in _shape(shapes, sizes, draws, across, down))
    weave = _coarse(_background(backgrounds, draws, across, down))[..., None]
    behind = ground[:, None, None, 0] * (1 - weave) + ground[:, None, None, 1] * weave
    images = behind * (1 - cover) + fill[:, None, None] * light * cover
    images += (draws.grain[..., None] - 0.5) * 0.06
    clipped: Floats = images.clip(0, 1)
    return clipped


def _positions() -> tuple[Floats, Floats]:
    """Return the subpixel grid: x (1, 1, p) and y (1, p, 1), in pixels."""
    points = (np.arange(PIXELS * _FINE) + 0.5) / _FINE
    return points[None, None, :], points[None, :, None]


def _coarse(fine: Floats) -> Floats:
    """Return the means of _FINE x _FINE subpixels: (b, p, p) to (b, PIXELS, PIXELS)."""
    corners = [fine[:, i::_FINE, j::_FINE] for i in range(_FINE) for j in range(_FINE)]
    total: Floats = sum(corners[1:], start=corners[0])
    return total / len(corners)


def _shape(
    shapes: Texts, sizes: Texts, draws: Draws, across: Floats, down: Floats
) -> tuple[Floats, Floats]:
    """Return the coverage of the shape at each subpixel (b, p, p), and its shading.

    All shapes of a size have the same area and the same range of positions, so neither reveals
    the shape.
    """
    turn, x, y, size, lamp = _columns(draws.pose)
    low, high = np.array([SIZES[name] for name in sizes]).T[:, :, None, None]
    radius = low + (high - low) * size
    margin = _REACH * high
    dx = across - (margin + (PIXELS - 2 * margin) * x)
    dy = down - (margin + (PIXELS - 2 * margin) * y)
    distance = np.hypot(dx, dy)
    edge = radius * _edge(shapes, np.arctan2(dy, dx) + 2 * np.pi * turn)
    slope = (dx * np.cos(2 * np.pi * lamp) + dy * np.sin(2 * np.pi * lamp)) / radius
    return (edge - distance + 0.5).clip(0, 1), 1 + 0.12 * slope


def _edge(shapes: Texts, angle: Floats) -> Floats:
    """Return the radius of the outline in each direction; shapes have the area of the unit disc.

    Between an outer corner at angle 0, radius R and an inner corner at angle β, radius qR the
    edge is straight: 1/ρ = [sin(β - φ) + sin(φ)/q] / (R sin β), a sine shifted by δ.
    The area is n q R² sin β.
    """
    points, inner = np.array([SHAPES[name] for name in shapes]).T[:, :, None, None]
    beta = np.pi / points
    outer = np.sqrt(np.pi / (points * inner * np.sin(beta)))
    rest = 1 / inner - np.cos(beta)
    delta, height = np.arctan2(np.sin(beta), rest), np.hypot(np.sin(beta), rest)
    phi = np.abs(angle - 2 * beta * np.rint(angle / (2 * beta)))  # folded onto 0 .. β
    reach: Floats = (outer * np.sin(beta) / height) / np.sin(phi + delta)
    return reach


def _background(names: Texts, draws: Draws, across: Floats, down: Floats) -> Floats:
    """Return the fraction of the second colour at each subpixel (b, p, p)."""
    weave = np.empty((len(names), PIXELS * _FINE, PIXELS * _FINE))
    for name, texture in _TEXTURES.items():
        rows = names == name
        if rows.any():
            weave[rows] = texture(draws.texture[rows], draws.patches[rows], across, down)
    return weave


def _sky(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Vertical gradient, slightly tilted."""
    turn, steep, shift, _ = _columns(texture)
    aslant = (turn - 0.5) * 0.5 * (across / PIXELS - 0.5)
    height = down / PIXELS + aslant + (shift - 0.5) * 0.3
    fade: Floats = ((height - 0.5) * (0.8 + 0.6 * steep) + 0.5).clip(0, 1)
    return fade


def _stripes(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Stripes of one width in a random direction."""
    turn, width, phase, _ = _columns(texture)
    along = across * np.cos(np.pi * turn) + down * np.sin(np.pi * turn)
    return _wave(along, 8 + 6 * width, phase)


def _tiles(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Checkerboard, slightly rotated."""
    turn, width, phase, other = _columns(texture)
    angle = (turn - 0.5) * np.pi / 4
    first = _wave(across * np.cos(angle) + down * np.sin(angle), 14 + 8 * width, phase)
    second = _wave(down * np.cos(angle) - across * np.sin(angle), 14 + 8 * width, other)
    return first * (1 - second) + second * (1 - first)


def _meadow(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Smoothed random patches."""
    cells = patches.shape[1] - 1
    at = across[0, 0] * (cells / PIXELS)
    low = at.astype(np.intp)
    part = at - low
    rows = patches[:, low] * (1 - part)[None, :, None] + patches[:, low + 1] * part[None, :, None]
    blend: Floats = rows[:, :, low] * (1 - part) + rows[:, :, low + 1] * part
    return blend


_TEXTURES = {"sky": _sky, "stripes": _stripes, "tiles": _tiles, "meadow": _meadow}


def _wave(along: Floats, period: Floats, phase: Floats) -> Floats:
    """Return a square wave with edges one pixel wide."""
    place = along / period + phase
    from_crest = np.abs(place - np.rint(place))  # 0 .. 0.5 of a period
    wave: Floats = (0.5 + (0.25 - from_crest) * period).clip(0, 1)
    return wave


def _columns(table: Floats) -> Floats:
    """Return the columns, each of shape (b, 1, 1) for broadcasting."""
    return table.T[:, :, None, None]
