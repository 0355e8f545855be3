"""Detect collapsed training: equal rows, a single cluster, or a constant loss."""

import math
import warnings
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import LikewiseWarning
from likewise.estimators.deep.networks import NetworkOutput

FIRST_EPOCHS, FIRST_STEPS = 3, 50  # after both of which an epoch is examined
_ALIKE = 0.999  # mean cosine of different rows
_ONE_CLUSTER = 0.01  # relative entropy of the cluster sizes
_CONSTANT = 2e-3  # largest distance of a loss term from its value for equal rows


class CollapseDetector:
    """Collects what one epoch shows of collapse, and warns once.

    Parameters
    ----------
    n_clusters, batch_size : int
    remedy : str
        What to do; the last sentence of the warning.
    """

    def __init__(self, n_clusters: int, batch_size: int, remedy: str) -> None:
        self._constants = constant_losses(n_clusters, batch_size)
        self._n_clusters, self._remedy = n_clusters, remedy
        self._sizes = torch.zeros(n_clusters, dtype=torch.long)
        self._cosines: list[float] = []
        self._n_steps = 0
        self.has_warned: bool = False

    def begin_epoch(self) -> None:
        """Forget the last epoch."""
        self._sizes = torch.zeros(self._n_clusters, dtype=torch.long)
        self._cosines = []

    @torch.no_grad()
    def add(self, output: NetworkOutput) -> None:
        """Add the network's output for one view of a batch."""
        self._sizes += torch.bincount(output.p.argmax(1).cpu(), minlength=self._n_clusters)
        self._cosines.append(mean_cosine(output.z))
        self._n_steps += 1

    @property
    def size_entropy(self) -> float:
        """Return the entropy of the cluster sizes of this epoch, relative to its maximum."""
        return relative_entropy(self._sizes)

    def warn(self, epoch: int, means: Mapping[str, float]) -> None:
        """Warn if this epoch, number `epoch` from 1, shows collapse; `means` are its losses."""
        is_early = epoch < FIRST_EPOCHS or self._n_steps < FIRST_STEPS
        found = None if self.has_warned or is_early else self._found(means)
        if found is None:
            return
        self.has_warned = True
        warnings.warn(
            f"Training has collapsed: in epoch {epoch} {found}. {self._remedy}",
            LikewiseWarning,
            stacklevel=4,
        )

    def _found(self, means: Mapping[str, float]) -> str | None:
        """Return which kind of collapse this epoch shows; only contrastive losses can."""
        terms = [name for name in self._constants if name in means]
        if not terms or not self._cosines:
            return None
        cosine = sum(self._cosines) / len(self._cosines)
        if cosine > _ALIKE:
            return f"all images have almost the same projection (mean cosine {cosine:.4f})"
        if "cluster" in means and self._n_clusters > 1 and self.size_entropy < _ONE_CLUSTER:
            return f"all images are in one of {self._n_clusters} clusters"
        if all(self._is_constant(name, means[name]) for name in terms):
            values = ", ".join(f"{name} {means[name]:.4f}" for name in terms)
            return f"the loss is that of images which are all equal ({values})"
        return None

    def _is_constant(self, name: str, loss: float) -> bool:
        low, high = self._constants[name]
        return low - _CONSTANT < loss < high + _CONSTANT


def constant_losses(n_clusters: int, batch_size: int) -> dict[str, tuple[float, float]]:
    """Return the contrastive terms of a batch whose rows, and columns, are all equal.

    Two values each, since NT-Xent is the logarithm of the other rows, and its constrained form
    of all rows.
    """
    rows = math.log(max(2 * batch_size - 1, 1)), math.log(2 * batch_size)
    columns = math.log(max(2 * n_clusters - 1, 1))
    return {
        "instance": rows,
        "assignment": rows,
        "simclr": rows,
        "cluster": (columns, columns),
    }


def mean_cosine(rows: Tensor) -> float:
    """Return the mean cosine of two different rows; 0 for a single one."""
    n = len(rows)
    if n < 2:
        return 0.0
    total = F.normalize(rows.float(), dim=1).sum(dim=0).square().sum()
    return float((total - n) / (n * (n - 1)))


def relative_entropy(sizes: Tensor) -> float:
    """Return the entropy of cluster sizes as a fraction of its maximum: 0 is collapse."""
    shares = sizes / sizes.sum().clamp(min=1)
    return float(-torch.xlogy(shares, shares).sum() / math.log(max(len(sizes), 2)))
