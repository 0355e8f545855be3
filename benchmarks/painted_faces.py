"""Painted portraits of people who differ in face, hair and glasses, before changing backgrounds."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance

from likewise.random_streams import stream

_SIZE, _FINE = 128, 2  # pixels of a side; the picture is painted larger
_SKIN = [(255, 219, 190), (238, 187, 150), (205, 145, 105), (150, 95, 65), (95, 60, 40)]
_HAIR = [
    (30, 24, 20),
    (92, 56, 30),
    (160, 100, 45),
    (222, 185, 110),
    (190, 70, 40),
    (150, 150, 155),
]
_EYES = [(60, 40, 25), (70, 110, 60), (60, 100, 170), (90, 90, 95)]
Color = tuple[int, int, int]


class Person:
    """What stays the same in all portraits of one person; drawn from `rng`."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.skin, self.hair = _pick(_SKIN, rng), _pick(_HAIR, rng)
        self.eyes, self.glasses = _pick(_EYES, rng), int(rng.integers(3))
        self.style, self.beard = int(rng.integers(5)), int(rng.integers(3))
        self.width, self.eye_gap = rng.uniform(0.26, 0.36), rng.uniform(0.11, 0.17)
        self.nose, self.mouth = rng.uniform(0.04, 0.10), rng.uniform(0.07, 0.15)
        self.brow = rng.uniform(0.008, 0.03)


def _pick(colors: list[Color], rng: np.random.Generator) -> Color:
    jitter = rng.integers(-12, 13, size=3)
    red, green, blue = np.clip(np.array(colors[rng.integers(len(colors))]) + jitter, 0, 255)
    return int(red), int(green), int(blue)


def paint_faces(folder: Path, n_images: int, n_people: int, seed: int) -> None:
    """Write portraits; each file name begins with the number of the person."""
    people = [Person(stream(seed, "person", number)) for number in range(n_people)]
    folder.mkdir()
    for number in range(n_images):
        who, rng = number % n_people, stream(seed, "portrait", number)
        portrait(people[who], rng).save(folder / f"{who:02}-{number:04}.png")


def portrait(person: Person, rng: np.random.Generator) -> Image.Image:
    """Return one portrait: pose, light, clothes, expression and background are drawn from `rng`."""
    side = _SIZE * _FINE
    ground = rng.integers(0, 256, size=(4, 4, 3), dtype=np.uint8)
    image = Image.fromarray(ground).resize((side, side), Image.Resampling.BICUBIC)
    layer = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    _head(ImageDraw.Draw(layer), person, rng, side)
    scale, angle = rng.uniform(0.85, 1.15), rng.uniform(-12, 12)
    layer = layer.rotate(angle, Image.Resampling.BICUBIC)
    size = int(side * scale)
    layer = layer.resize((size, size), Image.Resampling.BICUBIC)
    corner = tuple(int((side - size) / 2 + rng.uniform(-0.08, 0.08) * side) for _ in range(2))
    image.paste(layer, (corner[0], corner[1]), layer)
    lit = ImageEnhance.Brightness(image).enhance(rng.uniform(0.7, 1.2))
    return lit.resize((_SIZE, _SIZE), Image.Resampling.LANCZOS)


def _head(draw: ImageDraw.ImageDraw, one: Person, rng: np.random.Generator, side: int) -> None:
    paint = Painter(draw, side)
    shirt = tuple(rng.integers(0, 256, size=3).tolist())
    _hair_and_skin(paint, one, (shirt[0], shirt[1], shirt[2]))
    for sign in (-1, 1):
        _eye(paint, one, 0.5 + sign * one.eye_gap, rng)
    red, green, blue = (int(0.75 * c) for c in one.skin)
    paint.ellipse(0.5, 0.57, one.nose / 2, 0.035, (red, green, blue))
    curve = rng.uniform(0.005, 0.05)
    paint.chord((0.5 - one.mouth, 0.68 - curve, 0.5 + one.mouth, 0.68 + curve), 0, (170, 60, 65))


def _hair_and_skin(paint: "Painter", one: Person, shirt: Color) -> None:
    if one.style >= 3:  # long hair behind the head
        paint.ellipse(0.5, 0.55, one.width + 0.07, 0.38 if one.style == 3 else 0.3, one.hair)
    paint.ellipse(0.5, 1.08, 0.42, 0.25, shirt)
    paint.ellipse(0.5, 0.8, 0.07, 0.12, one.skin)
    if one.style > 0:
        paint.ellipse(0.5, 0.36, one.width + 0.03, 0.25, one.hair)
    paint.ellipse(0.5, 0.5, one.width, 0.33, one.skin)
    if one.style in (2, 4):  # a fringe
        paint.chord((0.5 - one.width, 0.16, 0.5 + one.width, 0.6), 190, one.hair)
    if one.beard:
        low, wide = ((0.72, 0.5), (0.66, 0.85))[one.beard - 1]
        paint.ellipse(0.5, low, one.width * wide, 0.12, one.hair)


def _eye(paint: "Painter", one: Person, x: float, rng: np.random.Generator) -> None:
    paint.ellipse(x, 0.47, 0.045, 0.03, (250, 250, 250))
    paint.ellipse(x + rng.uniform(-0.015, 0.015), 0.47, 0.024, 0.026, one.eyes)
    paint.ellipse(x, 0.40, 0.06, one.brow / 2, one.hair)
    if one.glasses:
        color = (20, 20, 25) if one.glasses == 1 else (190, 40, 50)
        paint.ellipse(x, 0.47, 0.085, 0.07, color, line=5)


class Painter:
    """Draws in units of the side of a picture."""

    def __init__(self, draw: ImageDraw.ImageDraw, side: int) -> None:
        self._draw, self._side = draw, side

    def ellipse(self, x: float, y: float, w: float, h: float, color: Color, line: int = 0) -> None:
        """Draw an ellipse of half width `w`; with `line`, only its outline."""
        box = [v * self._side for v in (x - w, y - h, x + w, y + h)]
        self._draw.ellipse(box, fill=None if line else color, outline=color, width=line or 1)

    def chord(self, box: tuple[float, float, float, float], start: int, color: Color) -> None:
        """Draw a part of an ellipse, of 160 to 180 degrees from `start`."""
        end = 180 if start == 0 else 350
        self._draw.chord([v * self._side for v in box], start, end, fill=color)
