"""Similarity of positive and negative pairs by epoch, which NT-Xent optimises."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import defaults
from likewise.estimators.registry import method_class
from likewise_bench.plots.plotted_run import Request, set_up
from likewise_bench.plots.style import colour, new_figure
from likewise_bench.spec import RunSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Similarities(NamedTuple):
    """Mean and variance of the cosines of positive and of negative pairs at one level."""

    positive: tuple[float, float]
    negative: tuple[float, float]


@torch.no_grad()
def pair_similarities(
    learner: NetworkLearner, n_images: int = 256
) -> tuple[Similarities, Similarities]:
    """Return the similarities between two views of some images, of instances and of clusters.

    Parameters
    ----------
    learner : NetworkLearner
        After `start`; its state is not changed.
    n_images : int
        Number of images, the first ones of the collection.

    Notes
    -----
    [CC]_ Figure 3: rows of the projections, and columns of the soft assignments, of two views.
    """
    with learner.evaluating():
        a, b = Batch(learner, 0, np.arange(min(n_images, len(learner.data)))).views
    return _similarities(a.z, b.z), _similarities(a.p.T, b.p.T)


def _similarities(a: Tensor, b: Tensor) -> Similarities:
    cosines = F.normalize(a.float(), dim=1) @ F.normalize(b.float(), dim=1).T
    same = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    return Similarities(_moments(cosines[same]), _moments(cosines[~same]))


def _moments(values: Tensor) -> tuple[float, float]:
    return float(values.mean()), float(values.var(unbiased=False))


_LEVELS = ("instances (rows of z)", "clusters (columns of P)")


def similarities(request: Request) -> "Figure":
    """Return two panels: mean similarity of positive and negative pairs, with variance bands.

    [CC]_ Figure 3, measured on 256 images after every epoch.
    """
    run = request.needed_run()
    if not trains_in_epochs(run):
        raise InvalidParameterError(
            f"The method {run.method!r} has no positive and negative pairs, since it does not "
            "learn from two views; choose cc, occ or pcl."
        )
    run = epoch_by_epoch(run, request.options.get("epochs", 20))
    plotted = set_up(run)
    model = plotted.model
    model.start(plotted.inputs.train)
    seen = [pair_similarities(_learner(model))]
    plotted.fit(lambda _: seen.append(pair_similarities(_learner(model))))
    figure = new_figure(8.0, 3.2)
    for level, axes in enumerate(figure.subplots(1, 2, sharey=True)):
        _draw(axes, [both[level] for both in seen])
        axes.set(title=_LEVELS[level], xlabel="epoch")
        axes.locator_params(axis="x", integer=True)
    figure.axes[0].set_ylabel("cosine of two views")
    figure.axes[0].legend()
    figure.suptitle(f"{run.method} on {plotted.dataset.name} by {plotted.ground_truth.criterion}")
    return figure


def _learner(model: InteractiveClusterer) -> NetworkLearner:
    assert isinstance(model.learner_, NetworkLearner)  # see `trains_in_epochs`
    return model.learner_


def trains_in_epochs(run: RunSpec) -> bool:
    """Return whether the method of a run trains in epochs."""
    return "plan" in defaults(method_class(run.method))


def epoch_by_epoch(run: RunSpec, n_epochs: int) -> RunSpec:
    """Return the run with one epoch per round, so that every epoch is observed."""
    epochs = {"n_rounds": str(n_epochs), "epochs_per_round": "1", "reset_each_round": "false"}
    return replace(run, settings={**run.settings, **epochs})


def _draw(axes: Any, seen: list[Similarities]) -> None:
    epochs = np.arange(len(seen))
    for number, name in enumerate(("positive", "negative")):
        means, variances = np.array([getattr(one, name) for one in seen]).T
        axes.plot(epochs, means, color=colour(number), label=f"{name} pairs")
        axes.fill_between(
            epochs, means - variances, means + variances, color=colour(number), alpha=0.25
        )
