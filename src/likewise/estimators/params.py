"""Configuration of training and networks, and checks of parameters."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np

from likewise.errors import InvalidParameterError, LikewiseWarning, UnknownNameError

QUERY_TIMINGS = ("round", "batch")
SAMPLERS = ("uniform", "linked")
DEFAULT_BACKBONE = "resnet18"  # trained from scratch on images if none is named


@dataclass(frozen=True)
class TrainingPlan:
    """Rounds, questions, epochs, batches and step size of one training.

    Parameters
    ----------
    warmup_epochs : int
        Epochs before the first question, with ``query_timing="round"``.
    n_rounds, epochs_per_round : int
        Each round asks questions, then trains for `epochs_per_round`.
    batch_size : int
        Images in a step, over all processes together.
    learning_rate, weight_decay : float
    optimiser : {"adam", "adamw", "sgd"}
    clip_norm : float, optional
        Maximum norm of the gradient.
    query_timing : {"round", "batch"}
        ``round``: ask between rounds; for people, and the default.
        ``batch``: in every step choose pairs inside the batch and use their answers in
        the loss of the same step, as the papers do.
    questions_per_batch, first_query_epoch : int
        With ``query_timing="batch"``. OCC asks 2 from epoch 1, PCL 1 from epoch 10.
    sampler : {"uniform", "linked"}
        How batches are drawn: uniformly, or with a fraction of images that have constraints.
    constrained_fraction : float
        Largest fraction of a batch drawn from constrained pairs by ``sampler="linked"``.
    reset_each_round : bool
        Start every round with an untrained network, which learns from all answers so far:
        assignments that have become confident without an answer rarely change afterwards.
    precision : {"auto", "float32", "bf16"}
    checkpoint_every : int
        Epochs between checkpoints, if a checkpoint folder is given.
    log_to : str, optional
        Folder for TensorBoard.
    """

    warmup_epochs: int = 0
    n_rounds: int = 1
    epochs_per_round: int = 20
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    optimiser: str = "adam"
    clip_norm: float | None = None
    query_timing: Literal["round", "batch"] = "round"
    questions_per_batch: int = 1
    first_query_epoch: int = 1
    sampler: Literal["uniform", "linked"] = "uniform"
    constrained_fraction: float = 0.5
    reset_each_round: bool = False
    precision: str = "auto"
    checkpoint_every: int = 10
    log_to: str | None = None

    def __post_init__(self) -> None:
        for name in ("n_rounds", "epochs_per_round", "batch_size", "checkpoint_every"):
            check_range(f"TrainingPlan: {name}", getattr(self, name), 1)
        for name in ("warmup_epochs", "questions_per_batch", "first_query_epoch", "weight_decay"):
            check_range(f"TrainingPlan: {name}", getattr(self, name), 0)
        if not self.learning_rate > 0:
            raise InvalidParameterError(
                f"TrainingPlan: learning_rate must be greater than 0, got {self.learning_rate}."
            )
        check_range("TrainingPlan: constrained_fraction", self.constrained_fraction, 0, 1)
        check_choice("query_timing", self.query_timing, QUERY_TIMINGS)
        check_choice("sampler", self.sampler, SAMPLERS)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        Raises
        ------
        UnknownNameError
            If there is no such field.
        """
        check_field_names(self, changes)
        return replace(self, **changes)

    def questions_in_round(self, n_questions: int, number: int) -> int:
        """Return how many of `n_questions` are asked in round `number` (from 0)."""
        share, rest = divmod(n_questions, self.n_rounds)
        return share + (number < rest)


@dataclass(frozen=True)
class NetworkConfig:
    """Layer widths of a network, and the augmentation of its input.

    Parameters
    ----------
    n_features : int
        Output width of the trunk for vectors; a backbone has its own.
    n_hidden, n_projection : int
        Hidden width of both heads, and width of the projection z.
    size : int
        Side length of images in pixels, with a backbone.
    recipe : str
        Augmentation of images: ``cc-small``, ``cc-large``, ``cc-imagenet``, ``pcl``,
        ``simclr-dsac``, ``gentle``.
    feature_dropout, feature_noise, facet_dropout : float
        Augmentation of vectors: fraction of columns dropped, noise in standard
        deviations, fraction of feature blocks dropped.
    """

    n_features: int = 512
    n_hidden: int = 512
    n_projection: int = 128
    size: int = 64
    recipe: str = "cc-small"
    feature_dropout: float = 0.4
    feature_noise: float = 0.5
    facet_dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in ("n_features", "n_hidden", "n_projection", "size"):
            check_range(f"NetworkConfig: {name}", getattr(self, name), 1)
        for name in ("feature_dropout", "facet_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InvalidParameterError(
                    f"NetworkConfig: {name} must be at least 0 and below 1, "
                    f"got {getattr(self, name)}."
                )

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        Raises
        ------
        UnknownNameError
            If there is no such field.
        """
        check_field_names(self, changes)
        return replace(self, **changes)


def check_field_names(config: Any, names: Iterable[str]) -> None:
    """Raise unless all `names` are fields of a dataclass; the nearest is suggested."""
    known = [field.name for field in fields(config)]
    for name in names:
        if name not in known:
            raise UnknownNameError(f"field of {type(config).__name__}", name, known)


def check_range(name: str, value: float, least: float, most: float = math.inf) -> None:
    """Raise unless `value` is between `least` and `most`."""
    if not least <= value <= most:
        wanted = f"at least {least}" if most == math.inf else f"between {least} and {most}"
        raise InvalidParameterError(f"{name} must be {wanted}, got {value}.")


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise unless `value` is one of `choices`; the nearest is suggested."""
    known = list(choices)
    if value not in known:
        raise UnknownNameError(f"value of {name}", str(value), [str(choice) for choice in known])


def check_n_clusters(k: Any, n_images: int) -> None:
    """Raise unless `n_images` images can form `k` clusters."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameterError(f"n_clusters must be an integer >= 2, got {k!r}.")
    if k == 1:  # scikit-learn's estimator checks require that it works
        warnings.warn(
            "n_clusters=1 puts all images into one cluster; use at least 2.",
            LikewiseWarning,
            stacklevel=4,
        )
    if k > n_images:
        raise InvalidParameterError(
            f"n_clusters must be at most the number of images, got n_clusters={k} for "
            f"n_samples={n_images}."
        )


def draw_seed(random_state: Any) -> int:
    """Return an integer seed for `random_state`: None, an integer or a numpy RandomState."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
