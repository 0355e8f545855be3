"""Build five labelled image sets from Debian packages: icons, stamps and letters.

``python -m benchmarks.analysis.debian_datasets DIR`` fetches the packages with ``apt-get`` and
writes image folders with label tables; ``benchmarks/elsewhere.toml`` is the sweep over them.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from likewise.errors import DatasetError
from likewise.random_streams import stream

Drawn = tuple[Image.Image, tuple[str, ...]]
SIDE = 96
_TINTS = ("brave", "dust", "human", "illustrious", "noble", "wine", "wise")
_CONTEXTS = ("actions", "apps", "categories", "devices", "places", "status")
_STYLES = {  # theme -> path of its icons of a context
    "gnome": "gnome/48x48/{}",
    "mate": "mate/48x48/{}",
    "tango": "Tango/32x32/{}",
    "moka": "Moka/48x48/{}",
    "elementary": "elementary-xfce/{}/48",
    "faenza": "Faenza/{}/48",
}
_TONES = {"🏻": "light", "🏼": "light", "🏽": "middle", "🏾": "dark", "🏿": "dark"}
_JOBS = (
    "⚕️",
    "🎓",
    "🏫",
    "⚖️",
    "🌾",
    "🍳",
    "🔧",
    "🏭",
    "💼",
    "🔬",
    "💻",
    "🎤",
    "🎨",
    "✈️",
    "🚀",
    "🚒",
)
_DEEDS = "🙅🙆💁🙋🙇🤦🤷🙎🙍💇💆🧏🚶🏃🏄🏊🚣🚴🧘🏋⛹🧗🤸🤾🤹"
_FAMILIES = {"Sans": "sans", "Serif": "serif", "Mono": "mono"}
_STAMPS = (
    "animals",
    "clothes",
    "food",
    "hobbies",
    "household",
    "plants",
    "symbols",
    "town",
    "vehicles",
)
PACKAGES = (
    *(f"gnome-{tint}-icon-theme" for tint in _TINTS),
    *("gnome-icon-theme", "mate-icon-theme", "tango-icon-theme", "moka-icon-theme"),
    *("elementary-xfce-icon-theme", "faenza-icon-theme", "gnome-colors-common"),
    *("fonts-noto-color-emoji", "fonts-dejavu-core", "fonts-dejavu-extra", "fonts-liberation"),
    *("fonts-freefont-ttf", "tuxpaint-stamps-default"),
)


def fetch(folder: Path) -> Path:
    """Download and unpack the packages; return the folder of their files."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise DatasetError(
            "These data sets need Debian packages; apt-get and dpkg-deb were not both found."
        )
    packed, unpacked = folder / "packages", folder / "unpacked"
    packed.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=packed, check=False)
    if done.returncode:
        raise DatasetError("Not all packages could be had; run `apt-get update` and try again.")
    for package in sorted(packed.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    return unpacked / "usr/share"


def tints(share: Path) -> Iterator[Drawn]:
    """Icons in seven colours: `colour`, `context`."""
    for tint, context in product(_TINTS, _CONTEXTS):
        for picture in _icons(share / f"icons/gnome-{tint}/32x32/{context}"):
            yield picture, (tint, context)


def icons(share: Path) -> Iterator[Drawn]:
    """Icons of six themes: `style`, `context`; at most 70 of a kind."""
    for style, context in product(_STYLES, ("actions", "apps", "devices", "mimetypes", "places")):
        found = _icons(share / "icons" / _STYLES[style].format(context))
        for i in stream(0, "icons", style, context).permutation(len(found))[:70]:
            yield found[int(i)], (style, context)


def people(share: Path) -> Iterator[Drawn]:
    """Emoji of people at work and in motion: `gender`, `tone`."""
    font = ImageFont.truetype(str(_one(share, "NotoColorEmoji.ttf")), 109)
    at_work = {"👨": "man", "👩": "woman", "🧑": "person"}
    for job, (who, gender), tone in product(_JOBS, at_work.items(), _TONES):
        yield _emoji(f"{who}{tone}\u200d{job}", font), (gender, _TONES[tone])
    for deed, (sign, gender), tone in product(_DEEDS, (("♂️", "man"), ("♀️", "woman")), _TONES):
        yield _emoji(f"{deed}{tone}\u200d{sign}", font), (gender, _TONES[tone])


def glyphs(share: Path) -> Iterator[Drawn]:
    """Capital letters in forty fonts: `family`, `slant`, `weight`."""
    rng = stream(0, "glyphs")
    for path in sorted(share.rglob("*.ttf")):
        known = path.name.startswith(("DejaVu", "Liberation", "Free"))
        families = [name for name in _FAMILIES if name in path.name]
        if not known or not families or any(w in path.name for w in ("Cond", "Light", "Math")):
            continue
        slant = "slanted" if "Oblique" in path.name or "Italic" in path.name else "upright"
        weight = "bold" if "Bold" in path.name else "plain"
        font = ImageFont.truetype(str(path), 72)
        for letter in "ABCDEFGHKLMNPRSTUVWXYZ":
            picture = Image.new("RGB", (SIDE, SIDE), "white")
            x, y = (int(place) for place in SIDE // 2 + rng.integers(-6, 7, 2))
            ImageDraw.Draw(picture).text((x, y), letter, "black", font, anchor="mm")
            yield picture, (_FAMILIES[families[-1]], slant, weight)


def stamps(share: Path) -> Iterator[Drawn]:
    """Stamps of a drawing program: `category`, `style`."""
    root = share / "tuxpaint/stamps"
    for path in sorted(root.rglob("*.png")):
        category, *deeper = path.relative_to(root).parts
        if category in _STAMPS and not path.stem.endswith(("_mirror", "_flip")):
            yield _on_white(path), (category, "cartoon" if "cartoon" in deeper else "photo")


SETS: Mapping[str, tuple[Callable[[Path], Iterable[Drawn]], tuple[str, ...]]] = {
    "tints": (tints, ("colour", "context")),
    "icons": (icons, ("style", "context")),
    "people": (people, ("gender", "tone")),
    "glyphs": (glyphs, ("family", "slant", "weight")),
    "stamps": (stamps, ("category", "style")),
}


def build(share: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """Write every data set to `folder`, images and table; yield its name and size."""
    for name, (draw, columns) in SETS.items():
        (folder / name / "images").mkdir(parents=True, exist_ok=True)
        with (folder / name / "labels.csv").open("w", newline="") as table:
            rows, n = csv.writer(table), 0
            rows.writerow(["file", *columns])
            for n, (picture, labels) in enumerate(draw(share), start=1):
                picture.save(folder / name / "images" / f"{n:05d}.png")
                rows.writerow([f"{n:05d}.png", *labels])
        yield name, n


def _icons(folder: Path) -> list[Image.Image]:
    """Return the icons of a folder without duplicates."""
    files = sorted({path.resolve() for path in folder.glob("*.png") if path.exists()})
    return [_on_white(path) for path in files]


def _on_white(path: Path) -> Image.Image:
    with Image.open(path) as opened:
        picture = opened.convert("RGBA")
    scale = SIDE / max(picture.size)
    w, h = (max(1, round(scale * side)) for side in picture.size)
    picture = picture.resize((w, h), Image.Resampling.LANCZOS)
    white = Image.new("RGB", (SIDE, SIDE), "white")
    white.paste(picture, ((SIDE - w) // 2, (SIDE - h) // 2), picture)
    return white


def _emoji(text: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    picture = Image.new("RGB", (136, 136), "white")
    ImageDraw.Draw(picture).text((0, 4), text, font=font, embedded_color=True)
    return picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def _one(share: Path, name: str) -> Path:
    found = next(iter(sorted(share.rglob(name))), None)
    if found is None:
        raise DatasetError(f"{name} is not among the unpacked packages; remove them and try again.")
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Download, build and list the data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(words).folder
    for name, n in build(fetch(folder), folder):
        sys.stdout.write(f"{name}: {n:,} images\n")


if __name__ == "__main__":
    main()
