"""Generated landscapes for the pictures of the docs, by season, place and time of day."""

import itertools
import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from likewise.random_streams import stream

#: Every criterion with its values, in the order of the words of a file name.
FACTORS = {
    "season": ("spring", "summer", "autumn", "winter"),
    "place": ("mountains", "sea", "forest", "village"),
    "time": ("day", "dusk", "night"),
}
SIZE = (480, 360)
_SCALE = 2  # drawn larger, then reduced
Colour = tuple[int, int, int]

_SKY: dict[str, tuple[Colour, Colour]] = {
    "day": ((96, 160, 222), (214, 234, 246)),
    "dusk": ((98, 78, 140), (250, 170, 110)),
    "night": ((14, 20, 48), (50, 62, 104)),
}
_LIGHT = {"day": (1.0, 1.0, 1.0), "dusk": (0.92, 0.76, 0.72), "night": (0.44, 0.50, 0.70)}
_GROUND: dict[str, Colour] = {
    "spring": (138, 190, 92),
    "summer": (196, 186, 88),
    "autumn": (172, 134, 74),
    "winter": (236, 241, 247),
}
_LEAVES: dict[str, tuple[Colour, ...]] = {
    "spring": ((244, 178, 200), (250, 208, 220), (158, 208, 104)),
    "summer": ((40, 116, 54), (58, 138, 60), (30, 96, 52)),
    "autumn": ((214, 104, 30), (232, 152, 40), (182, 62, 34)),
    "winter": ((226, 234, 242), (206, 218, 230), (240, 244, 248)),
}
_ROCK: Colour = (118, 122, 136)


class Painter:
    """Paints one landscape; all lengths are shares of the width of the picture."""

    def __init__(self, season: str, place: str, time: str, rng: np.random.Generator) -> None:
        self.season, self.place, self.time, self.rng = season, place, time, rng
        self.width, self.height = SIZE[0] * _SCALE, SIZE[1] * _SCALE
        self.image = Image.new("RGB", (self.width, self.height))
        self.draw = ImageDraw.Draw(self.image)
        self.horizon = rng.uniform(0.44, 0.58) * self.height

    def paint(self) -> Image.Image:
        """Return the picture."""
        self._sky()
        self._hills(0.10, _mix(self._lit(_GROUND[self.season]), self._haze(), 0.55))
        {
            "mountains": self._mountains,
            "sea": self._sea,
            "forest": self._forest,
            "village": self._village,
        }[self.place]()
        if self.season == "winter":
            self._snow()
        return self.image.resize(SIZE, Image.Resampling.LANCZOS)

    # -- parts --

    def _sky(self) -> None:
        top, bottom = _SKY[self.time]
        shares = np.linspace(0, 1, self.height)[:, None, None] ** 0.8
        rows = np.array(top) * (1 - shares) + np.array(bottom) * shares
        self.image.paste(
            Image.fromarray(np.repeat(rows, self.width, axis=1).astype(np.uint8)), (0, 0)
        )
        x, y = self._at(0.15, 0.85), self.rng.uniform(0.10, 0.30) * self.height
        if self.time == "night":
            for _ in range(90):
                self._disc(
                    self._at(0, 1), self.rng.uniform(0, 0.5) * self.height, 0.0016, (236, 238, 250)
                )
            self._disc(x, y, 0.035, (240, 238, 214))
            self._disc(
                x + 0.016 * self.width,
                y - 0.008 * self.width,
                0.031,
                _mix(top, bottom, y / self.height),
            )
        else:
            low = self.horizon * 0.86 if self.time == "dusk" else y
            self._disc(x, low, 0.05, (255, 226, 150) if self.time == "dusk" else (255, 247, 208))
            self._clouds()

    def _clouds(self) -> None:
        layer = Image.new("RGBA", self.image.size, (255, 255, 255, 0))
        pen = ImageDraw.Draw(layer)
        colour = (255, 255, 255, 200) if self.time == "day" else (240, 168, 150, 150)
        for _ in range(self.rng.integers(1, 4)):
            x, y = self._at(0, 1), self.rng.uniform(0.06, 0.3) * self.height
            for _ in range(6):
                r = self.rng.uniform(0.02, 0.045) * self.width
                dx, dy = (
                    self.rng.normal(0, 0.06) * self.width,
                    self.rng.normal(0, 0.01) * self.width,
                )
                pen.ellipse(
                    (x + dx - 2 * r, y + dy - r / 2, x + dx + 2 * r, y + dy + r / 2), colour
                )
        layer = layer.filter(ImageFilter.GaussianBlur(0.006 * self.width))
        self.image.paste(layer, (0, 0), layer)

    def _hills(self, height: float, colour: Colour, base: float | None = None) -> None:
        base = self.horizon if base is None else base
        waves = [(self.rng.uniform(1, 4), self.rng.uniform(0, 7)) for _ in range(3)]
        xs = np.linspace(0, self.width, 80)
        ys = base - sum(
            height * self.width / 5 * np.sin(f * xs / self.width * math.pi + p) for f, p in waves
        )
        self._ground(list(zip(xs, ys, strict=True)), colour)

    def _mountains(self) -> None:
        for depth, n in ((0.5, 3), (0.15, 2)):
            for _ in range(n):
                x, peak = (
                    self._at(0.05, 0.95),
                    self.horizon - self.rng.uniform(0.12, 0.3) * self.width * (1 - depth / 2),
                )
                half = self.rng.uniform(0.2, 0.3) * self.width
                rock = _mix(self._lit(_ROCK), self._haze(), depth)
                self._polygon(
                    [(x - half, self.horizon + 20), (x, peak), (x + half, self.horizon + 20)], rock
                )
                self._polygon(
                    [(x, peak), (x + half, self.horizon + 20), (x + 0.1 * half, self.horizon + 20)],
                    _mix(rock, (0, 0, 0), 0.14),
                )
                cap = {"winter": 0.75, "spring": 0.35, "autumn": 0.25, "summer": 0.12}[self.season]
                low = peak + cap * (self.horizon - peak)
                jag = [
                    (x + half * cap * s, low - (0.03 if i % 2 else -0.02) * self.width)
                    for i, s in enumerate(np.linspace(0.8, -0.8, 7))
                ]
                self._polygon(
                    [(x, peak), *jag], _mix(self._lit((250, 251, 254)), self._haze(), depth * 0.6)
                )
        self._hills(0.05, self._lit(_GROUND[self.season]), self.horizon + 0.05 * self.width)
        self._trees(9, (0.62, 0.98), 0.05)

    def _sea(self) -> None:
        deep = {
            "spring": (70, 140, 178),
            "summer": (28, 132, 180),
            "autumn": (64, 110, 140),
            "winter": (96, 124, 148),
        }[self.season]
        self.draw.rectangle((0, self.horizon, self.width, self.height), self._lit(deep))
        for _ in range(70):
            y = self.rng.uniform(self.horizon + 6, self.height)
            length = (
                self.rng.uniform(0.02, 0.09) * self.width * (0.4 + (y - self.horizon) / self.height)
            )
            x = self._at(0, 1)
            self.draw.line((x, y, x + length, y), _mix(self._lit(deep), (255, 255, 255), 0.3), 3)
        for _ in range(self.rng.integers(1, 3)):
            self._boat(
                self._at(0.15, 0.85),
                self.horizon + self.rng.uniform(0.02, 0.1) * self.height,
                self.rng.uniform(0.04, 0.08) * self.width,
            )
        shore = self.height * self.rng.uniform(0.80, 0.88)
        sand = _GROUND["winter"] if self.season == "winter" else (228, 206, 160)
        self._hills(0.03, self._lit(sand), shore)
        self._trees(4, (0.92, 1.04), 0.07)

    def _forest(self) -> None:
        self._hills(0.05, self._lit(_GROUND[self.season]), self.horizon + 0.08 * self.width)
        self._trees(26, (0.56, 0.74), 0.07)
        self._trees(16, (0.74, 1.0), 0.11)

    def _village(self) -> None:
        self._hills(0.06, self._lit(_GROUND[self.season]), self.horizon + 0.04 * self.width)
        self._trees(5, (0.6, 0.68), 0.05)
        for y in sorted(self.rng.uniform(0.66, 0.92, 6)):
            self._house(self._at(0.08, 0.92), y * self.height, 0.07 + 0.06 * (y - 0.6))
        self._trees(4, (0.9, 1.02), 0.07)

    def _trees(self, n: int, rows: tuple[float, float], size: float) -> None:
        for y in sorted(self.rng.uniform(*rows, n)):
            scale = size * self.rng.uniform(0.75, 1.25) * (0.6 + 0.6 * y)
            self._tree(
                self._at(0.01, 0.99), y * self.height, scale * self.width, self.rng.random() < 0.3
            )

    def _tree(self, x: float, y: float, r: float, is_conifer: bool) -> None:
        trunk = self._lit((98, 70, 50))
        self.draw.rectangle((x - 0.09 * r, y - 1.2 * r, x + 0.09 * r, y), trunk)
        leaves = _LEAVES[self.season]
        if is_conifer:
            green = self._lit((34, 84, 62) if self.season != "winter" else (196, 212, 220))
            for step in range(3):
                top, half = y - (2.6 - 0.6 * step) * r, (0.45 + 0.2 * step) * r
                self._polygon(
                    [(x - half, top + 1.0 * r), (x, top), (x + half, top + 1.0 * r)],
                    _mix(green, (0, 0, 0), 0.06 * step),
                )
        elif self.season == "winter":
            for angle in (-0.9, -0.45, 0.0, 0.45, 0.9):
                end = (x + 1.1 * r * math.sin(angle), y - 1.0 * r - 1.0 * r * math.cos(angle))
                self.draw.line((x, y - 0.9 * r, *end), trunk, max(2, int(0.07 * r)))
        else:
            for _ in range(9):
                dx, dy = self.rng.normal(0, 0.38 * r), self.rng.normal(0, 0.3 * r)
                colour = self._lit(leaves[self.rng.integers(len(leaves))])
                self._disc(x + dx, y - 1.6 * r + dy, 0.42 * r / self.width, colour)

    def _house(self, x: float, y: float, size: float) -> None:
        w, h = size * self.width, 0.75 * size * self.width
        wall = self._lit(((244, 236, 220), (226, 196, 160), (214, 220, 226))[self.rng.integers(3)])
        roof = self._lit(
            (240, 244, 248)
            if self.season == "winter"
            else ((170, 74, 54), (120, 76, 62))[self.rng.integers(2)]
        )
        self.draw.rectangle((x - w / 2, y - h, x + w / 2, y), wall)
        self._polygon([(x - 0.6 * w, y - h), (x, y - 1.7 * h), (x + 0.6 * w, y - h)], roof)
        glass = (255, 214, 120) if self.time != "day" else self._lit((90, 110, 132))
        for side in (-0.26, 0.2):
            self.draw.rectangle(
                (x + side * w - 0.08 * w, y - 0.7 * h, x + side * w + 0.1 * w, y - 0.4 * h), glass
            )

    def _boat(self, x: float, y: float, r: float) -> None:
        self._polygon(
            [(x - r, y), (x + r, y), (x + 0.7 * r, y + 0.35 * r), (x - 0.7 * r, y + 0.35 * r)],
            self._lit((130, 66, 48)),
        )
        self._polygon(
            [(x, y - 1.6 * r), (x, y - 0.1 * r), (x + 0.8 * r, y - 0.1 * r)],
            self._lit((250, 246, 238)),
        )

    def _snow(self) -> None:
        for _ in range(120):
            self._disc(
                self._at(0, 1),
                self.rng.uniform(0, 1) * self.height,
                self.rng.uniform(0.0015, 0.004),
                _mix(self._lit((255, 255, 255)), (255, 255, 255), 0.5),
            )

    # -- colours and shapes --

    def _at(self, low: float, high: float) -> float:
        return self.rng.uniform(low, high) * self.width

    def _lit(self, colour: Colour) -> Colour:
        return _rgb(np.array(colour) * _LIGHT[self.time])

    def _haze(self) -> Colour:
        return _SKY[self.time][1]

    def _disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        r = radius * self.width
        self.draw.ellipse((x - r, y - r, x + r, y + r), colour)

    def _polygon(self, corners: list[tuple[float, float]], colour: Colour) -> None:
        self.draw.polygon(corners, colour)

    def _ground(self, edge: list[tuple[float, float]], colour: Colour) -> None:
        self._polygon([*edge, (self.width, self.height), (0, self.height)], colour)


def _rgb(values: np.ndarray) -> Colour:
    r, g, b = np.clip(values, 0, 255).astype(int).tolist()
    return r, g, b


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    return _rgb(np.array(one) * (1 - share) + np.array(other) * share)


def paint_landscapes(folder: Path, n: int, seed: int = 0) -> None:
    """Write `n` pictures, named after the value of every factor: ``autumn-sea-dusk-017.jpg``."""
    folder.mkdir(parents=True)
    combinations = list(itertools.product(*FACTORS.values()))
    order = stream(seed, "landscapes", "order").permutation(n)
    for number in range(n):
        season, place, time = combinations[order[number] % len(combinations)]
        picture = Painter(season, place, time, stream(seed, "landscapes", number)).paint()
        picture.save(folder / f"{season}-{place}-{time}-{number:03}.jpg", quality=88)


def value_of(name: str, factor: str) -> str:
    """Return the value of one factor from a file name.

    Examples
    --------
    >>> value_of("autumn-sea-dusk-017.jpg", "place")
    'sea'
    """
    return Path(name).name.split("-")[list(FACTORS).index(factor)]
