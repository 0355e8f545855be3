"""Registry of data sets by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from likewise.errors import DatasetError, InvalidParameterError, UnknownNameError
from likewise_bench.datasets.base import Dataset, known_criteria
from likewise_bench.datasets.imagenet import (
    load_imagenet10,
    load_imagenet10_dac,
    load_imagenet_dogs,
)
from likewise_bench.datasets.labels_csv import load_labels_csv
from likewise_bench.datasets.synthetic import FACTORS, Side, cross, load_digits, load_scenes
from likewise_bench.datasets.vision import (
    load_cifar10,
    load_cifar100,
    load_fashion_mnist,
    load_stl10,
    load_tiny_imagenet,
)


@dataclass(frozen=True)
class Source:
    """Loader, description and criteria of a data set.

    `criteria` is empty if they are in `criteria.toml` or in the data set's own table.
    """

    load: Callable[..., Dataset]
    about: str
    criteria: tuple[str, ...] = ()


def load_dataset(name: str, data: str | PathLike[str] | None = None, **options: Any) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `DATASETS`. ``cross`` may be followed by the data sets and criteria of its two
        sides: ``cross:digits/digit+scenes/shape``.
    data : path, optional
        Folder of the archive or files; synthetic data sets need none.
    **options
        Options of the loader: `n_images` and `seed` of ``scenes`` and ``cross``.

    Raises
    ------
    UnknownNameError
        If the name is unknown.
    DatasetError
        If files are missing, damaged or inconsistent.

    Examples
    --------
    >>> sorted(load_dataset("scenes", n_images=128).criteria)
    ['background', 'colour', 'shape', 'size']
    """
    kind, _, sides = name.partition(":")
    if kind not in DATASETS or (sides and kind != "cross"):
        raise UnknownNameError("data set", name, DATASETS)
    folder = None if data is None else Path(data).expanduser()
    if sides:
        options["sides"] = sides
    return DATASETS[kind].load(folder, **options)


def criteria_of(name: str) -> list[str]:
    """Return the criteria of a data set that are known without loading it."""
    return list(DATASETS[name].criteria) or known_criteria(name)


_OURS = "which is not public; give"
_BUILT = "built by `python -m benchmarks.analysis.debian_datasets DIR`; run that and give"


def _load_folder(name: str, data: Path | None, *, origin: str = _OURS) -> Dataset:
    """Load ``images/`` with ``labels.csv`` from ``NAME/`` below `data`, or from `data` itself."""
    places = [] if data is None else [data / name, data]
    for place in places:
        if (place / "labels.csv").is_file():
            return load_labels_csv(place / "images", place / "labels.csv", name=name)
    where = "Missing --data" if data is None else f"{str(data)!r} is not the folder"
    raise DatasetError(
        f"{where} for the data set {name!r}, {origin} the folder that contains "
        f"{name}/images/ and {name}/labels.csv (--data), or your own images and labels "
        "(--images DIR --labels FILE.csv)."
    )


def _load_cross(
    data: Path | None, *, sides: str = "digits/digit+scenes/shape", **options: Any
) -> Dataset:
    """Load both sides, each ``NAME`` or ``NAME/CRITERION``, and combine them."""
    names = sides.split("+")
    if len(names) != 2 or not all(names):
        raise InvalidParameterError(
            f"cross needs two data sets, got 'cross:{sides}'; write cross:LEFT+RIGHT, each NAME or "
            "NAME/CRITERION, for example cross:digits/digit+scenes/shape."
        )
    left, right = (_side(side, data) for side in names)
    return cross(left, right, name=f"cross:{sides}", **options)


def _side(side: str, data: Path | None) -> Side:
    name, _, criterion = side.partition("/")
    return Side.of(load_dataset(name, data), criterion or None)


#: Built by `benchmarks/analysis/debian_datasets.py`: description and criteria.
_DEBIAN_SETS = {
    "tints": ("icons in seven colours: images/ and labels.csv", ("colour", "context")),
    "icons": ("icons of six themes: images/ and labels.csv", ("style", "context")),
    "people": ("emoji of people at work and in motion: images/ and labels.csv", ("gender", "tone")),
    "glyphs": (
        "capital letters in forty fonts: images/ and labels.csv",
        ("family", "slant", "weight"),
    ),
    "stamps": ("stamps of a drawing program: images/ and labels.csv", ("category", "style")),
}

DATASETS: dict[str, Source] = {
    "scenes": Source(
        load_scenes,
        "synthetic: shape x colour x background x size, 64 px; no files",
        tuple(FACTORS),
    ),
    "digits": Source(
        load_digits,
        "1,797 handwritten digits from scikit-learn; no files",
        ("digit", "parity", "half"),
    ),
    "cross": Source(
        _load_cross,
        "two images side by side, from any two data sets with images",
        ("left", "right"),
    ),
    "cifar10": Source(load_cifar10, "CIFAR-10: python or binary version, or cifar10.zip"),
    "cifar100": Source(load_cifar100, "CIFAR-100: python or binary version"),
    "stl10": Source(load_stl10, "STL-10, 13,000 labelled images: stl10_binary.tar.gz or folder"),
    "tiny-imagenet": Source(
        load_tiny_imagenet, "Tiny-ImageNet, training: tiny-imagenet-200.zip", ("class",)
    ),
    "imagenet10": Source(load_imagenet10, "PCL's ten classes of ILSVRC 2012, training images"),
    "imagenet10-dac": Source(load_imagenet10_dac, "CC's ten classes of ILSVRC 2012, training"),
    "imagenet-dogs": Source(
        load_imagenet_dogs, "fifteen dog breeds of ILSVRC 2012, training images"
    ),
    "fashion-mnist": Source(load_fashion_mnist, "Fashion-MNIST: four IDX files"),
    "fashion": Source(partial(_load_folder, "fashion"), "product photos: images/ and labels.csv"),
    "fruits": Source(partial(_load_folder, "fruits"), "fruit photos: images/ and labels.csv"),
    "cards": Source(partial(_load_folder, "cards"), "playing cards: images/ and labels.csv"),
    **{
        name: Source(partial(_load_folder, name, origin=_BUILT), about, criteria)
        for name, (about, criteria) in _DEBIAN_SETS.items()
    },
}
