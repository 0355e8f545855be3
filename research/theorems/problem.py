"""A problem small enough to be solved: vectors with two criteria, and a linear network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from likewise.nn.losses.constrained import positive_weights
from likewise.nn.losses.contrastive import similarities, tile_relations
from likewise.random_streams import derive, stream

TEMPERATURE = 0.5
N_COLUMNS, N_OUT = 8, 3
MU = ("code", "printed", "none")
_STEPS = 150  # of L-BFGS at most


@dataclass(frozen=True)
class Batch:
    """Two views of n vectors, and their groups by the target criterion.

    Attributes
    ----------
    views : Tensor of shape (2n, d)
        Rows of the first view, then those of the second.
    truth : Tensor of shape (n, n)
        +1 same, -1 different, 0 on the diagonal: every question answered.
    """

    views: Tensor
    truth: Tensor

    @property
    def n(self) -> int:
        """Return the number of images."""
        return len(self.truth)


def make_batch(n: int, seed: int, *names: str | int) -> Batch:
    """Return vectors with a strong criterion, and labels of a weak one."""
    rng = stream(seed, "theorems", *names)
    strong, weak = rng.integers(0, 2, n), rng.integers(0, 2, n)
    rows = rng.normal(0, 0.6, (n, N_COLUMNS))
    rows[:, 0] += 3.0 * (2 * strong - 1)
    rows[:, 1] += 1.5 * (2 * weak - 1)
    views = np.concatenate([rows + rng.normal(0, 0.3, rows.shape) for _ in range(2)])
    truth = np.where(weak[:, None] == weak[None, :], 1, -1)
    np.fill_diagonal(truth, 0)
    return Batch(torch.from_numpy(views), torch.from_numpy(truth))


def loss(rows: Tensor, relations: Tensor, *, mu: str = "code", strength: float = 4.0) -> Tensor:
    r"""Return :math:`\hat L_q(f)`, [PCL]_ Eq. (9) and (10), of rows z = f(x).

    Parameters
    ----------
    rows : Tensor of shape (2n, m)
    relations : Tensor of shape (n, n)
        The answers so far.
    mu : {"code", "printed", "none"}
        The factor of Eq. (1): as in the authors' code, as published, or 1.
    strength : float
        :math:`\lambda`.
    """
    n = len(relations)
    s = similarities(rows[:n], rows[n:], temperature=TEMPERATURE)
    apart = (tile_relations(relations, n) == -1).to(s.dtype)
    v = (1 + apart).fill_diagonal_(0)
    w = positive_weights(relations, strength=strength, dtype=s.dtype)
    factor = {
        "code": 2 * n / v.sum(dim=1),
        "printed": n / (n + apart.sum(dim=1)),
        "none": torch.ones(2 * n, dtype=s.dtype),
    }[mu]
    rivals = (s + v.log()).logsumexp(dim=1) + factor.log()
    return ((w * (rivals[:, None] - s)).sum(dim=1) / w.sum(dim=1)).mean()


def solve(
    objective: Callable[[Tensor], Tensor], seed: int, *, starts: Sequence[Tensor] = ()
) -> tuple[Tensor, float]:
    """Return the linear map (d, m) of least loss, and that loss.

    L-BFGS to convergence from two starts, of which the better counts: the loss of a linear
    network with cosines is not convex.

    Parameters
    ----------
    objective : callable
        The loss of a map.
    seed : int
    starts : sequence of Tensor
        Initial values; further starts are random.
    """
    best: tuple[Tensor, float] | None = None
    rng = torch.Generator().manual_seed(derive(seed, "theorems", "start") % 2**63)
    fresh = [torch.randn(N_COLUMNS, N_OUT, generator=rng, dtype=torch.float64) for _ in range(2)]
    for start in (*starts, *fresh[: 2 - len(starts)]):
        found = _descend(objective, start)
        if best is None or found[1] < best[1]:
            best = found
    assert best is not None  # at least one start
    return best


def _descend(objective: Callable[[Tensor], Tensor], start: Tensor) -> tuple[Tensor, float]:
    weights = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [weights],
        max_iter=_STEPS,
        tolerance_grad=1e-7,
        tolerance_change=1e-10,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = objective(weights)
        value.backward()
        return value

    optimiser.step(closure)
    with torch.no_grad():
        return weights.detach(), float(objective(weights))


def answer_order(n: int, seed: int) -> npt.NDArray[np.intp]:
    """Return all pairs (m, 2) in the order in which they are asked."""
    pairs = np.column_stack(np.triu_indices(n, k=1))
    return pairs[stream(seed, "theorems", "order").permutation(len(pairs))]


def told(truth: Tensor, pairs: npt.NDArray[np.intp]) -> Tensor:
    """Return the relations (n, n) after these questions, without implied ones."""
    known = torch.zeros_like(truth)
    i, j = torch.from_numpy(pairs).T
    known[i, j] = truth[i, j]
    known[j, i] = truth[i, j]
    return known
