"""The `Dataset` class, and the classes and criteria of the published data sets."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TypedDict, cast

import numpy as np
import numpy.typing as npt

from likewise.errors import DatasetError, UnknownNameError
from likewise.images.collection import ImageCollection

Labels = npt.NDArray[np.str_]
Indexes = npt.NDArray[np.intp]
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Dataset:
    """Images with their true labels; only oracles and metrics may see the labels.

    Attributes
    ----------
    name : str
    criteria : mapping of str to array of shape (n,)
        The true label of every image, by criterion.
    collection : ImageCollection, optional
        The images.
    vectors : array of shape (n, d), optional
        Feature vectors of the data set; then no encoder is needed.
    train, test : array of int, optional
        The official split, if there is one.
    unlabelled : ImageCollection, optional
        Further images without labels, for methods that can use them.
    unusable : mapping of str to str
        Criteria with missing labels, each with its error message.

    Examples
    --------
    >>> toy = Dataset("toy", {"sign": np.array(["+", "-"])}, vectors=np.eye(2, dtype=np.float32))
    >>> len(toy), toy.labels("sign").tolist()
    (2, ['+', '-'])
    """

    name: str
    criteria: Mapping[str, Labels]
    collection: ImageCollection | None = None
    vectors: Vectors | None = None
    train: Indexes | None = None
    test: Indexes | None = None
    unlabelled: ImageCollection | None = None
    unusable: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise an error unless labels, images and vectors have the same length."""
        parts = {name: len(labels) for name, labels in self.criteria.items()}
        parts |= {"images": len(self.collection)} if self.collection is not None else {}
        parts |= {"vectors": len(self.vectors)} if self.vectors is not None else {}
        if len(set(parts.values())) != 1 or (self.collection is None and self.vectors is None):
            counts = ", ".join(f"{n} {name}" for name, n in parts.items())
            raise DatasetError(
                f"The parts of the data set {self.name!r} must have the same length, got {counts}; "
                "give pixels or a vector for every image, and one label per criterion."
            )

    def __len__(self) -> int:
        return len(next(iter(self.criteria.values())))

    def labels(self, criterion: str) -> Labels:
        """Return the true labels of one criterion.

        Raises
        ------
        UnknownNameError
            If the data set has no such criterion.
        DatasetError
            If labels of the criterion are missing.
        """
        if criterion in self.unusable:
            raise DatasetError(self.unusable[criterion])
        if criterion not in self.criteria:
            raise UnknownNameError(f"criterion of {self.name}", criterion, self.criteria)
        return self.criteria[criterion]


def some(things: Iterable[object], n_shown: int = 3) -> str:
    """Return the first few items and the number of further ones, as text.

    Examples
    --------
    >>> some(["a.jpg", "b.jpg", "c.jpg"], n_shown=2)
    "'a.jpg', 'b.jpg' and 1 more"
    """
    texts = [repr(thing) for thing in things]
    more = f" and {len(texts) - n_shown} more" if len(texts) > n_shown else ""
    return ", ".join(texts[:n_shown]) + more


Groups = Mapping[str, list[str]]  # group -> classes


class _Entry(TypedDict, total=False):
    """The entry of one data set in the table; it has `classes` or `synsets`."""

    classes: list[str]
    synsets: dict[str, str]
    criteria: dict[str, dict[str, list[str]]]


@cache
def _table() -> dict[str, _Entry]:
    text = resources.files("likewise_bench.datasets").joinpath("criteria.toml").read_text("utf-8")
    return cast(dict[str, _Entry], tomllib.loads(text))


def class_names(dataset: str) -> list[str]:
    """Return the classes of a data set, in the order of their numbers.

    Examples
    --------
    >>> class_names("cifar10")[:3]
    ['airplane', 'automobile', 'bird']
    """
    entry = _table()[dataset]
    return list(entry["classes"] if "classes" in entry else entry["synsets"].values())


def synsets(dataset: str) -> dict[str, str]:
    """Return a mapping from ImageNet synset to class name."""
    return dict(_table()[dataset]["synsets"])


def groupings(dataset: str) -> dict[str, Groups]:
    """Return the criteria other than ``class``: their groups and the classes in each."""
    return dict(_table()[dataset].get("criteria", {}))


def known_criteria(dataset: str) -> list[str]:
    """Return the criteria of a data set in the table; empty for other data sets.

    Examples
    --------
    >>> known_criteria("cifar10"), known_criteria("cards")
    (['class', 'default', 'personalised'], [])
    """
    return ["class", *groupings(dataset)] if dataset in _table() else []


def criteria(dataset: str, classes: Labels) -> dict[str, Labels]:
    """Return the labels of every criterion, given the class of each image.

    Examples
    --------
    >>> found = criteria("cifar10", np.array(["ship", "frog"]))
    >>> found["personalised"].tolist(), found["default"].tolist()
    (['others', 'others'], ['artifacts', 'animals'])
    """
    found = {"class": classes}
    names, positions = np.unique(classes, return_inverse=True)
    for criterion, groups in groupings(dataset).items():
        group_of = {name: group for group, members in groups.items() for name in members}
        found[criterion] = np.array([group_of[str(name)] for name in names])[positions]
    return found
