"""PCL, Theorem 3.3: change of the loss by one answer, against similarity and S_up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import spearmanr

from likewise.queries.pcl import min_max
from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import colour, new_figure
from research.theorems.problem import MU, Batch, loss, make_batch, solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


N = 40
EPSILON = 0.2
Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Changes:
    """Change of the loss of a fixed model by the answer to each pair.

    Attributes
    ----------
    similarity, uncertainty : array of shape (m,)
        Of each pair: its cosine, averaged over the views, and S_up of Eq. (6).
    change : dict of str to array of shape (m,)
        Loss after less loss before, if the answer were ``same`` or ``different``.
    is_same : array of shape (m,)
        The true answers.
    """

    similarity: Floats
    uncertainty: Floats
    change: Mapping[str, Floats]
    is_same: npt.NDArray[np.bool_]

    def true_change(self, answer: str) -> Floats:
        """Return the changes by pairs of which this is the true answer."""
        found: Floats = self.change[answer][self.is_same == (answer == "same")]
        return found

    def share_falling(self, answer: str) -> float:
        """Return the share of true answers of a kind after which the loss is lower."""
        return float((self.true_change(answer) < 0).mean())


def changes(n: int, seed: int, mu: str = "code") -> Changes:
    """Return the changes by a first answer (q = 0), the model solved without any."""
    batch = make_batch(n, seed, "changes")
    nothing = torch.zeros_like(batch.truth)
    weights, before = solve(lambda w: loss(batch.views @ w, nothing, mu=mu), seed)
    rows = batch.views @ weights
    i, j = np.triu_indices(n, k=1)
    found = {
        name: np.array(
            [_after(rows, nothing, int(a), int(b), sign, mu) for a, b in zip(i, j, strict=True)]
        )
        - before
        for name, sign in (("same", 1), ("different", -1))
    }
    s = _similarity(rows, batch)[i, j]
    return Changes(s, min_max(-np.abs(s - EPSILON)), found, batch.truth.numpy()[i, j] == 1)


@torch.no_grad()
def _after(rows: torch.Tensor, nothing: torch.Tensor, i: int, j: int, sign: int, mu: str) -> float:
    known = nothing.clone()
    known[i, j] = known[j, i] = sign
    return float(loss(rows, known, mu=mu))


def _similarity(rows: torch.Tensor, batch: Batch) -> Any:
    unit = (rows / rows.norm(dim=1, keepdim=True)).reshape(2, batch.n, -1)
    return (unit @ unit.transpose(1, 2)).mean(dim=0).numpy()


def figure(request: Request) -> "Figure":
    """Return the change of the loss against s, and its size against S_up."""
    seed = int(request.options.get("seed", 0))
    found = changes(request.options.get("n") or N, seed)
    canvas = new_figure(8.6, 6.6)
    panels = canvas.subplots(2, 2)
    for line, (number, answer) in zip(panels, enumerate(("same", "different")), strict=True):
        mine = found.is_same == (answer == "same")
        change = found.change[answer][mine]
        word = {"same": "must-link", "different": "cannot-link"}[answer]
        _scatter(line[0], found.similarity[mine], change, number)
        line[0].axhline(0, color="grey", linewidth=0.7)
        line[0].set(xlabel="s, similarity of the pair", ylabel="change of the loss")
        line[0].set_title(f"{word}: the loss falls after {found.share_falling(answer):.0%}")
        _scatter(line[1], found.uncertainty[mine], np.abs(change), number)
        rank = spearmanr(found.uncertainty[mine], np.abs(change)).statistic
        line[1].set(xlabel="S_up, Eq. (6)", ylabel="size of the change")
        line[1].set_title(f"{word}: rank correlation with S_up {rank:.2f}")
    others = {mu: changes(24, seed, mu) for mu in MU}
    words = ", ".join(f"μ {mu}: {one.share_falling('different'):.0%}" for mu, one in others.items())
    canvas.suptitle(
        "PCL, Theorem 3.3: one first answer, the model fixed\n"
        f"share of cannot-links after which the loss falls, n = 24: {words}"
    )
    return canvas


def _scatter(axes: Any, x: Floats, y: Floats, number: int) -> None:
    axes.scatter(x, y, s=6, color=colour(number), alpha=0.5, linewidths=0)
