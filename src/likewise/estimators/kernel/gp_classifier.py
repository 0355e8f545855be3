"""Gaussian-process classification from a few labelled images, with a weight per feature block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy.special import softmax

from likewise.estimators.kernel.loo_tuning import Doubles, Hyperparameters, LeaveOneOut
from likewise.types import Floats, Indexes

Blocks = Mapping[str, Floats]
_Rows = TypeVar("_Rows", Floats, Doubles)
_TUNING_LABELS = 300  # on which hyperparameters are tuned; all labels are used afterwards
_PREFERENCE = 2.0  # logit of the weight of a preferred block
_CHUNK = 2_048  # images predicted together, to bound the memory of their kernel matrix


class GPClassifier:
    r"""Least-squares Gaussian-process classification with one weight per feature block.

    Parameters
    ----------
    blocks : mapping of str to array of shape (n, d_f)
        Unit rows of all images.
    n_views : int
        How many versions of each feature block are given: all blocks of one view, then all of the
        next (see `FeatureBlocks`).
    preferred : str, optional
        A feature block that counts most where the labels do not tell.

    Attributes
    ----------
    hyperparameters : Hyperparameters, optional
        None before `fit`.

    Notes
    -----
    With unit rows :math:`u^f` and mean squared distances :math:`\bar d_f`,

    .. math:: k(i, j) = \exp\Big(-\gamma \sum_f w_f \|u^f_i - u^f_j\|^2 / \bar d_f\Big),
              \qquad \mu(x) = \bar y + k(x, L) (K + \sigma^2 T^{-1})^{-1} (Y - \bar y),

    and class probabilities :math:`\operatorname{softmax}(s \mu)`. The weights :math:`w`,
    :math:`\gamma`, :math:`\sigma`, :math:`s` and the rate of label noise minimise the
    cross-entropy of the *leave-one-out* predictions (`LeaveOneOut`). So a feature block counts as
    far as it helps to predict one label from the others, probabilities are calibrated, and a label
    that the others contradict counts less.
    """

    def __init__(self, blocks: Blocks, n_views: int = 1, preferred: str = "") -> None:
        self.n_views = n_views
        of_view = list(blocks)[: len(blocks) // n_views]
        self._preferences: Doubles = np.array([_PREFERENCE * (b == preferred) for b in of_view])
        self.blocks: dict[str, Floats] = dict(blocks)
        scales = [_mean_squared_distance(rows) for rows in self.blocks.values()]
        self.scale: Floats = np.array(scales, dtype=np.float32)
        self.hyperparameters: Hyperparameters | None = None

    @property
    def n_images(self) -> int:
        """Return how many images the blocks have."""
        return _n_rows(self.blocks)

    def fit(
        self,
        images: Indexes,
        classes: Indexes,
        n_classes: int,
        *,
        sample_weight: Doubles | None = None,
    ) -> Doubles:
        """Tune and train on labelled images; return the probability that each label is wrong.

        Parameters
        ----------
        images, classes : arrays of shape (m,)
        n_classes : int
        sample_weight : array of shape (m,), optional
            1 for an answer; less for a pseudo-label.
        """
        weight = np.ones(len(classes)) if sample_weight is None else sample_weight
        n_tuned = min(len(images), _TUNING_LABELS)
        tuned = np.linspace(0, len(images) - 1, n_tuned).astype(np.intp)
        rows = [block[images[tuned]].astype(np.float64) for block in self.blocks.values()]
        scaled = [squared_distances(x, x) / s for x, s in zip(rows, self.scale, strict=True)]
        distances = np.stack(scaled).reshape(self.n_views, -1, n_tuned, n_tuned)
        leave_one_out = LeaveOneOut(
            distances, classes[tuned], n_classes, weight[tuned], self._preferences
        )
        self.hyperparameters, errors = leave_one_out.tune()
        label_errors = np.zeros(len(images))
        label_errors[tuned] = errors
        self._solve(images, classes, n_classes, weight)
        return label_errors

    def refit(self, images: Indexes, classes: Indexes, *, sample_weight: Doubles) -> None:
        """Train on other labels with the same hyperparameters."""
        self._solve(images, classes, len(self.mean), sample_weight)

    def predict_proba(self, blocks: Blocks | None = None) -> Floats:
        """Return probabilities ``(n, k)`` of the given rows, or of all images."""
        rows = self.blocks if blocks is None else blocks
        known, sharpness = self.scaled_rows(self.known), np.float32(self._tuned.sharpness)
        probabilities = np.empty((_n_rows(rows), len(self.mean)), dtype=np.float32)
        for chunk, part in _chunks(rows):
            kernel = squared_distances(self.scaled_rows(part), known)
            np.exp(np.negative(kernel, out=kernel), out=kernel)
            probabilities[chunk] = softmax(sharpness * (self.mean + kernel @ self.alpha), axis=1)
        return probabilities

    def predict_proba_at(self, images: Indexes) -> Floats:
        """Return probabilities ``(m, k)`` of some of the images."""
        return self.predict_proba({name: rows[images] for name, rows in self.blocks.items()})

    def transform(self, blocks: Blocks, to: Callable[[Floats], Floats], n_columns: int) -> Floats:
        """Return the scaled rows after the map `to`, ``(n, n_columns)``, computed in chunks."""
        rows = np.empty((_n_rows(blocks), n_columns), dtype=np.float32)
        for chunk, part in _chunks(blocks):
            rows[chunk] = to(self.scaled_rows(part))
        return rows

    def scaled_rows(self, blocks: Blocks) -> Floats:
        """Return rows whose squared distances are the exponents of the kernel."""
        tuned = self._tuned
        factors = np.sqrt(tuned.gamma * tuned.weights / self.scale)
        scaled = zip(blocks.values(), factors.tolist(), strict=True)
        rows: Floats = np.concatenate([rows * factor for rows, factor in scaled], axis=1)
        return rows

    @property
    def _tuned(self) -> Hyperparameters:
        assert self.hyperparameters is not None  # `fit` comes first
        return self.hyperparameters

    def _solve(self, images: Indexes, classes: Indexes, n_classes: int, weight: Doubles) -> None:
        targets = np.eye(n_classes)[classes]
        self.images: Indexes = images
        self.mean: Floats = targets.mean(axis=0).astype(np.float32)
        self.known: dict[str, Floats] = {name: rows[images] for name, rows in self.blocks.items()}
        rows = self.scaled_rows(self.known).astype(np.float64)
        kernel = np.exp(-squared_distances(rows, rows)) + np.diag(self._tuned.noise / weight)
        alpha = np.linalg.solve(kernel, targets - targets.mean(axis=0))
        self.alpha: Floats = alpha.astype(np.float32)

    # -- saving ---------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return what prediction needs, as named arrays."""
        if self.hyperparameters is None:
            return {}
        return {
            **self.get_weights("gp."),
            "gp.mean": self.mean,
            "gp.alpha": self.alpha,
            "gp.images": self.images,
            **{f"gp.known.{name}": rows for name, rows in self.known.items()},
        }

    def set_state(self, state: Mapping[str, Any], blocks: Sequence[str]) -> None:
        """Restore what `get_state` returned, for blocks in that order."""
        self.set_weights("gp.", state)
        self.mean = state["gp.mean"]
        self.alpha = state["gp.alpha"]
        self.images = state["gp.images"]
        self.known = {name: state[f"gp.known.{name}"] for name in blocks}

    def get_weights(self, prefix: str) -> dict[str, Any]:
        """Return the hyperparameters and scales as named arrays."""
        tuned = self._tuned
        numbers = [tuned.gamma, tuned.noise, tuned.sharpness, tuned.label_noise]
        return {
            f"{prefix}weights": tuned.weights,
            f"{prefix}hyperparameters": np.array(numbers),
            f"{prefix}scale": self.scale,
        }

    def set_weights(self, prefix: str, state: Mapping[str, Any]) -> None:
        """Restore what `get_weights` returned."""
        numbers = state[f"{prefix}hyperparameters"].tolist()
        self.hyperparameters = Hyperparameters(state[f"{prefix}weights"], *numbers)
        self.scale = state[f"{prefix}scale"]


def squared_distances(a: _Rows, b: _Rows) -> _Rows:
    """Return squared distances ``(n, m)``; scikit-learn's convert single precision to double."""
    distances: _Rows = a @ b.T
    distances *= -2
    distances += (a * a).sum(axis=1)[:, None]
    distances += (b * b).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def _n_rows(blocks: Blocks) -> int:
    return len(next(iter(blocks.values())))


def _chunks(blocks: Blocks) -> Iterator[tuple[slice, dict[str, Floats]]]:
    """Yield the positions of some images, and their blocks."""
    for start in range(0, _n_rows(blocks), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        yield chunk, {name: rows[chunk] for name, rows in blocks.items()}


def _mean_squared_distance(rows: Floats) -> float:
    """Return the mean squared distance among at most 500 evenly spaced rows."""
    some = rows[:: -(-len(rows) // 500)]
    return max(float(squared_distances(some, some).mean()), 1e-6)
