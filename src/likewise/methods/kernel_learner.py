"""From a few labelled images to probabilities for all: a kernel machine that weighs facets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.methods.kernel_tuning import LeftOut, Tuning

Floats = npt.NDArray[np.float32]
_TUNED_ON = 300  # labelled images on which weights are tuned; all of them count afterwards
_AT_ONCE = 2_048  # images predicted together: their kernel with all that is known is in memory


class KernelLearner:
    r"""Least-squares Gaussian process classification with one weight for each facet.

    Notes
    -----
    With unit rows :math:`u^f` and mean distances :math:`\bar d_f`,

    .. math:: k(i, j) = \exp\Big(-\gamma \sum_f w_f \|u^f_i - u^f_j\|^2 / \bar d_f\Big),
              \qquad \mu(x) = \bar y + k(x, L) (K + \sigma^2 T^{-1})^{-1} (Y - \bar y).

    :math:`w` (a softmax), :math:`\gamma`, :math:`\sigma`, the sharpness of the final softmax
    and the share of slips minimise the cross-entropy of the *leave-one-out* predictions
    (`LeftOut`). So a facet counts as far as it helps to predict an answer from the others,
    probabilities come out calibrated, and an answer that the others contradict counts less.

    Parameters
    ----------
    facets : mapping of str to array of shape (n, d_f)
        Unit rows.
    n_views : int
        How often each facet is given: all in one view, then all in the next.
    """

    def __init__(self, facets: Mapping[str, Floats], n_views: int = 1) -> None:
        self.n_views = n_views
        self.facets = {name: torch.from_numpy(rows) for name, rows in facets.items()}
        self.scale = torch.tensor([_mean_distance(rows) for rows in self.facets.values()])
        self.tuning: Tuning | None = None

    def fit(
        self,
        images: npt.NDArray[np.intp],
        classes: npt.NDArray[np.intp],
        n_classes: int,
        *,
        trust: npt.NDArray[np.float64] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Learn from labelled images; return for each the chance that its label is a slip.

        Parameters
        ----------
        images, classes : arrays of shape (m,)
        n_classes : int
        trust : array of shape (m,), optional
            1 for an answer; less for a guess.
        """
        y = torch.from_numpy(classes)
        faith = torch.ones(len(y), dtype=torch.double)
        if trust is not None:
            faith = torch.from_numpy(trust)
        tuned = np.linspace(0, len(images) - 1, min(len(images), _TUNED_ON)).astype(np.intp)
        picked = {name: rows[images[tuned]].double() for name, rows in self.facets.items()}
        D = torch.stack([_squared(rows, rows) for rows in picked.values()])
        D = (D / self.scale.double()[:, None, None]).unflatten(
            0, (self.n_views, -1)
        )  # (v, f, m, m)
        self.tuning, doubt = LeftOut(D, y[tuned], n_classes, faith[tuned]).tune()
        slipped = np.zeros(len(images))
        slipped[tuned] = doubt
        self.images = images
        self._solve(y, n_classes, faith)
        return slipped

    def refit(
        self,
        images: npt.NDArray[np.intp],
        classes: npt.NDArray[np.intp],
        *,
        trust: npt.NDArray[np.float64],
    ) -> None:
        """Learn from more images with what was found out about facets."""
        self.images = images
        self._solve(torch.from_numpy(classes), len(self.mean), torch.from_numpy(trust))

    def predict(self, facets: Mapping[str, Floats] | None = None) -> Floats:
        """Return probabilities ``(n, k)`` of the given rows, or of all images."""
        assert self.tuning is not None  # fit comes first
        rows = self.facets
        if facets is not None:
            rows = {name: torch.from_numpy(array) for name, array in facets.items()}
        known, sharpness = self.weighted(self.known), self.tuning.sharpness
        probabilities = np.empty((_n_rows(rows), len(self.mean)), dtype=np.float32)
        for at, part in _in_parts(rows):
            mu = self._mu(self.weighted(part), known)
            probabilities[at] = torch.softmax(sharpness * mu, dim=1).numpy()
        return probabilities

    def believe(self, images: npt.NDArray[np.intp]) -> Floats:
        """Return probabilities ``(m, k)`` of some of the images."""
        return self.predict({name: rows[images].numpy() for name, rows in self.facets.items()})

    def mapped(
        self, facets: Mapping[str, Tensor], to: Callable[[Tensor], Tensor], n_columns: int
    ) -> Floats:
        """Return weighted facets ``(n, n_columns)`` as `to` maps them, made in parts."""
        found = np.empty((_n_rows(facets), n_columns), dtype=np.float32)
        for at, part in _in_parts(facets):
            found[at] = to(self.weighted(part)).numpy()
        return found

    def weighted(self, facets: Mapping[str, Tensor]) -> Tensor:
        """Return rows whose squared distances are the exponents of the kernel."""
        factors = zip(facets.values(), self._factors, strict=True)
        return torch.cat([rows * float(factor) for rows, factor in factors], 1)

    @property
    def n_images(self) -> int:
        """How many images there are."""
        return _n_rows(self.facets)

    # -- inside ---------------------------------------------------------------

    def _solve(self, y: Tensor, n_classes: int, faith: Tensor) -> None:
        assert self.tuning is not None
        Y = F.one_hot(y, n_classes).double()
        self.mean = Y.mean(0).float()
        self.known = {name: rows[self.images] for name, rows in self.facets.items()}
        rows = self.weighted(self.known).double()
        K = torch.exp(-_squared(rows, rows)) + torch.diag(self.tuning.noise / faith)
        # Row by row, as it is read back from a file: another layout gives other last digits.
        self.alpha = torch.linalg.solve(K, Y - Y.mean(0)).float().contiguous()

    @property
    def _factors(self) -> npt.NDArray[np.float64]:
        assert self.tuning is not None
        factors: npt.NDArray[np.float64] = np.sqrt(
            self.tuning.gamma * self.tuning.weights / self.scale.numpy()
        )
        return factors

    def _mu(self, rows: Tensor, known: Tensor) -> Tensor:
        mu: Tensor = self.mean + torch.exp(-_squared(rows, known)) @ self.alpha
        return mu

    # -- on disk ----------------------------------------------------------------

    def arrays(self) -> dict[str, Any]:
        """Return what prediction needs, as named arrays."""
        if self.tuning is None:
            return {}
        return {
            **self.weights_as_arrays("kernel."),
            "kernel.mean": self.mean.numpy(),
            "kernel.alpha": self.alpha.numpy(),
            "kernel.images": self.images,
            **{f"kernel.known.{name}": rows.numpy() for name, rows in self.known.items()},
        }

    def take_arrays(self, arrays: Mapping[str, Any], facets: Sequence[str]) -> None:
        """Take back what `arrays` returned, for facets in that order."""
        self.take_weights("kernel.", arrays)
        self.mean, self.alpha = (
            torch.from_numpy(arrays[f"kernel.{name}"]) for name in ("mean", "alpha")
        )
        self.images = arrays["kernel.images"]
        self.known = {name: torch.from_numpy(arrays[f"kernel.known.{name}"]) for name in facets}

    def weights_as_arrays(self, prefix: str) -> dict[str, Any]:
        """Return how facets are weighed, as named arrays."""
        assert self.tuning is not None
        t = self.tuning
        return {
            f"{prefix}weights": t.weights,
            f"{prefix}numbers": np.array([t.gamma, t.noise, t.sharpness, t.slips]),
            f"{prefix}scale": self.scale.numpy(),
        }

    def take_weights(self, prefix: str, arrays: Mapping[str, Any]) -> None:
        """Take back what `weights_as_arrays` returned."""
        numbers = arrays[f"{prefix}numbers"].tolist()
        self.tuning = Tuning(arrays[f"{prefix}weights"], *numbers)
        self.scale = torch.from_numpy(arrays[f"{prefix}scale"])


def _n_rows(facets: Mapping[str, Tensor]) -> int:
    return len(next(iter(facets.values())))


def _in_parts(facets: Mapping[str, Tensor]) -> Iterator[tuple[slice, dict[str, Tensor]]]:
    """Yield where some images are, and their facets: memory stays small."""
    for start in range(0, _n_rows(facets), _AT_ONCE):
        at = slice(start, start + _AT_ONCE)
        yield at, {name: rows[at] for name, rows in facets.items()}


def _squared(a: Tensor, b: Tensor) -> Tensor:
    """Return squared distances ``(n, m)``."""
    lengths = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :]
    return (lengths - 2 * (a @ b.T)).clamp_min(0)


def _mean_distance(rows: Tensor) -> float:
    """Return the mean squared distance of two of at most 500 evenly spaced rows."""
    some = rows[:: -(-len(rows) // 500)]
    return max(float(_squared(some, some).mean()), 1e-6)
