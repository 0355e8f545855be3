"""The specification of one benchmark run, and the split into training and test images."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import KINDS
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.random_streams import stream
from likewise_bench.datasets.base import Dataset

Indexes = npt.NDArray[np.intp]
PROTOCOLS = ("transductive", "inductive")
SPLITS = ("all", "train", "test")
DEFAULT_TEST_FRACTION = 0.2


@dataclass(frozen=True)
class RunSpec:
    """The parameters that determine the result of one run.

    Parameters
    ----------
    method : str
    dataset : str, optional
        Name of a data set; `data` is the directory of its files.
    images, labels : str, optional
        Instead of `dataset`: a folder of images and a CSV table of their true labels.
    criterion : str, optional
        The criterion to cluster by; may be omitted if the data set has only one.
    n_questions : int
        Number of answers allowed, of any kind.
    seconds : float, optional
        Simulated time of the annotator allowed, see `likewise.constraints.question.person_seconds`.
        With both limits the first that is reached ends the questions.
    seed : int
    n_clusters : int or "auto", optional
        Default: the number of values of the criterion. "auto" passes None to the method.
    strategy, preset : str, optional
    settings : mapping of str to str
        Parameters of the method.
    encoder : str, optional
        Default: the vectors of the data set if it has any, else the bundled encoder.
    from_scratch : bool
        Train a network on the images instead.
    protocol : {"transductive", "inductive"}
        Cluster all images; or train on some and evaluate on held-out images.
    test_fraction : float, optional
        Fraction of images held out by ``inductive`` if the data set has no official test images
        or `split` selects one part; default 0.2.
    split : {"all", "train", "test"}
        Part of the official split that is the collection.
    n_images, n_test : int, optional
        Maximum number of training and of test images; a synthetic data set is made as large as
        needed.
    kinds : tuple of str, optional
        Kinds of questions the method may ask.
    noise, unsure : float
        Probability of a wrong answer and of "can't tell".
    """

    method: str
    dataset: str | None = None
    data: str | None = None
    images: str | None = None
    labels: str | None = None
    criterion: str | None = None
    n_questions: int = 0
    seconds: float | None = None
    seed: int = 0
    n_clusters: int | str | None = None
    strategy: str | None = None
    preset: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    encoder: str | None = None
    from_scratch: bool = False
    protocol: str = "transductive"
    test_fraction: float | None = None
    split: str = "all"
    n_images: int | None = None
    n_test: int | None = None
    kinds: tuple[str, ...] | None = None
    noise: float = 0.0
    unsure: float = 0.0

    def __post_init__(self) -> None:
        """Validate the parameters."""
        _check_source(self)
        _check_names(self)
        _check_numbers(self)
        _check_held_out(self)

    @property
    def held_out_fraction(self) -> float:
        """Return the fraction of test images without an official split."""
        if self.protocol == "transductive":
            return 0.0
        return DEFAULT_TEST_FRACTION if self.test_fraction is None else self.test_fraction

    @property
    def n_synthetic(self) -> int | None:
        """Return the size of a synthetic data set; None: its default."""
        if self.n_images is None:
            return None
        if self.n_test is not None:
            return self.n_images + self.n_test
        return math.ceil(self.n_images / (1 - self.held_out_fraction))


class Parts(NamedTuple):
    """Indexes of training images and of held-out images (possibly none)."""

    train: Indexes
    test: Indexes


def split_parts(run: RunSpec, dataset: Dataset) -> Parts:
    """Return the training images and the test images.

    ``inductive`` uses the official split if ``split="all"``; otherwise it holds out a random
    part, drawn with the seed of the run.
    """
    train, test = dataset.train, dataset.test
    if run.split != "all" and (train is None or test is None):
        raise InvalidParameterError(
            f"split={run.split!r} needs an official split, which {dataset.name!r} does not have; "
            "leave it out, or hold out images with the inductive protocol."
        )
    if (
        run.protocol == "inductive"
        and run.split == "all"
        and train is not None
        and test is not None
    ):
        return Parts(
            _limited(train, run.n_images, "n_images"), _limited(test, run.n_test, "n_test")
        )
    pool = {"all": np.arange(len(dataset)), "train": train, "test": test}[run.split]
    assert pool is not None  # checked above
    if run.protocol == "transductive":
        return Parts(_limited(pool, run.n_images, "n_images"), np.empty(0, dtype=np.intp))
    return _held_out(run, pool)


def _held_out(run: RunSpec, pool: Indexes) -> Parts:
    n_test = run.n_test or round(len(pool) * run.held_out_fraction)
    if not 0 < n_test < len(pool):
        raise InvalidParameterError(
            f"Training and test images must both be at least 1, got {len(pool) - n_test} and "
            f"{n_test} of {len(pool)} images; choose another test_fraction or n_test."
        )
    order = stream(run.seed, "benchmark", "held out").permutation(len(pool))
    test, train = np.sort(pool[order[:n_test]]), np.sort(pool[order[n_test:]])
    return Parts(_limited(train, run.n_images, "n_images"), test)


def _limited(pool: Indexes, n: int | None, name: str) -> Indexes:
    """Return `n` images of the pool; they do not depend on the seed of the run."""
    if n is None:
        return pool
    if not 0 < n <= len(pool):
        raise InvalidParameterError(f"{name} must be between 1 and {len(pool)}, got {n}.")
    chosen: Indexes = np.sort(stream(0, "benchmark", name).permutation(pool)[:n])
    return chosen


def _check_source(run: RunSpec) -> None:
    if (run.images is None) != (run.labels is None):
        raise InvalidParameterError(
            "images and labels must be given together: an image folder and the table of its labels."
        )
    if (run.dataset is None) == (run.images is None):
        raise InvalidParameterError(
            "Give either the name of a data set (--dataset), or images with their labels "
            "(--images and --labels)."
        )
    if run.from_scratch and run.encoder is not None:
        raise InvalidParameterError(
            f"encoder={run.encoder!r} is not used with from_scratch, which trains its own "
            "network; give only one of them."
        )


def _check_names(run: RunSpec) -> None:
    for what, name, known in (("protocol", run.protocol, PROTOCOLS), ("split", run.split, SPLITS)):
        if name not in known:
            raise UnknownNameError(what, name, known)
    for kind in run.kinds or ():
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)


def _check_numbers(run: RunSpec) -> None:
    if isinstance(run.n_clusters, str) and run.n_clusters != "auto":
        raise InvalidParameterError(
            f"n_clusters must be an integer >= 2 or 'auto', got {run.n_clusters!r}."
        )
    if isinstance(run.n_clusters, int) and run.n_clusters < 2:
        raise InvalidParameterError(f"n_clusters must be an integer >= 2, got {run.n_clusters}.")
    for name, budget in (("n_questions", run.n_questions), ("seconds", run.seconds or 0)):
        if not budget >= 0:
            raise InvalidParameterError(f"{name} must be >= 0, got {budget}.")
    for name, probability in (("noise", run.noise), ("unsure", run.unsure)):
        if not 0 <= probability <= 1:
            raise InvalidParameterError(f"{name} must be between 0 and 1, got {probability}.")


def _check_held_out(run: RunSpec) -> None:
    if run.test_fraction is not None and not 0 < run.test_fraction < 1:
        raise InvalidParameterError(
            f"test_fraction must be between 0 and 1, exclusive, got {run.test_fraction}."
        )
    is_tested = run.protocol == "inductive"
    if not is_tested and (run.test_fraction is not None or run.n_test is not None):
        raise InvalidParameterError(
            "test_fraction and n_test need the inductive protocol; add --protocol inductive."
        )
