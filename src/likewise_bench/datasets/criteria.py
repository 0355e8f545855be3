"""Classes and criteria of the published data sets, read from `criteria.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TypedDict, cast

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.str_]
Groups = Mapping[str, list[str]]  # group -> its classes


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
