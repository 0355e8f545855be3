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

    Criteria stand here where neither `criteria.toml` nor a file of its own has them.
    """

    load: Callable[..., Dataset]
    about: str
    criteria: tuple[str, ...] = ()


def load_dataset(name: str, data: str | PathLike[str] | None = None, **options: Any) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `DATASETS`. ``cross`` may name its two sides and how each is
        sorted: ``cross:digits/digit+scenes/shape``.
    data : path, optional
        The folder its archive or files are in; generated sets need none.
    **options
        For the loader: `n_images` and `seed` of ``scenes`` and ``cross``.

    Raises
    ------
    UnknownNameError
        If there is no such data set.
    DatasetError
        If its files are missing, broken, or do not fit.

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


_OURS = "one of this project's own for evaluation, which cannot be downloaded; give"
_BUILT = "which `python -m benchmarks.analysis.debian_datasets DIR` builds; run that, and give"


def _load_folder(name: str, data: Path | None, *, whence: str = _OURS) -> Dataset:
    """Load ``images/`` with ``labels.csv`` from ``NAME/`` below `data`, or from `data` itself."""
    places = [] if data is None else [data / name, data]
    for place in places:
        if (place / "labels.csv").is_file():
            return load_labels_csv(place / "images", place / "labels.csv", name=name)
    where = "No folder was given" if data is None else f"{str(data)!r} is not the folder"
    raise DatasetError(
        f"{where} for the data set {name!r}, {whence} the folder that holds "
        f"{name}/images/ and {name}/labels.csv (--data), or any pictures with a table of your own "
        "(--images DIR --labels FILE.csv)."
    )


def _load_cross(
    data: Path | None, *, sides: str = "digits/digit+scenes/shape", **options: Any
) -> Dataset:
    """Load both sides, each ``NAME`` or ``NAME/CRITERION``, and combine them."""
    names = sides.split("+")
    if len(names) != 2 or not all(names):
        raise InvalidParameterError(
            f"'cross:{sides}' does not name two data sets; write cross:LEFT+RIGHT, each the name "
            "of a set, or name/criterion: cross:digits/digit+scenes/shape."
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
        "painted: shape x colour x background x size, 64 px; no files",
        tuple(FACTORS),
    ),
    "digits": Source(
        load_digits,
        "1,797 handwritten digits from scikit-learn; no files",
        ("digit", "parity", "half"),
    ),
    "cross": Source(
        _load_cross,
        "two things side by side, from any two sets with pictures",
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
    "imagenet-dogs": Source(load_imagenet_dogs, "fifteen dogs of ILSVRC 2012, training images"),
    "fashion-mnist": Source(load_fashion_mnist, "Fashion-MNIST: four IDX files"),
    "fashion": Source(partial(_load_folder, "fashion"), "product photos: images/ and labels.csv"),
    "fruits": Source(partial(_load_folder, "fruits"), "fruit photos: images/ and labels.csv"),
    "cards": Source(partial(_load_folder, "cards"), "playing cards: images/ and labels.csv"),
    **{
        name: Source(partial(_load_folder, name, whence=_BUILT), about, criteria)
        for name, (about, criteria) in _DEBIAN_SETS.items()
    },
}
