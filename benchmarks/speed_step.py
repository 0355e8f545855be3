"""Time of one PCL step by part: the network, and what this project adds to it.

CPU seconds, so that other programs on the machine do not count.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from likewise.methods.architecture import Architecture
from likewise.methods.known import known_of
from likewise.methods.pcl import PCL
from likewise.methods.plan import Plan
from likewise.nn import training as order
from likewise.nn.training import step
from likewise.oracles.simulated import LabelOracle
from likewise.seeds import stream

AT_MOST = 0.20  # maximum share of the time outside the network
OURS = ("augmentation", "relations", "losses", "query scoring")
NETWORK = ("forward", "backward", "optimiser")
BACKBONES = ("resnet18:stem=3x3/2", "resnet18")
_IMAGES, _BATCH, _SIZE = 512, 128, 32
Seconds = dict[str, float]


def step_bench(n_steps: int = 8) -> Iterator[str]:
    """Yield the printed rows: seconds of each part, for a small stem and for the papers' stem."""
    for backbone in BACKBONES:
        seconds = time_steps(backbone, n_steps)
        yield from rows(backbone, seconds)


def rows(backbone: str, seconds: Seconds) -> Iterator[str]:
    """Yield one row per part, and the share outside the network."""
    total, ours = sum(seconds.values()), sum(seconds[part] for part in OURS)
    yield (
        f"PCL, {backbone}, {_BATCH} images of {_SIZE} px in two views, bf16, "
        f"{torch.get_num_threads()} threads: {1000 * total:.0f} ms of the processor a step"
    )
    for part in (*NETWORK, *OURS):
        yield f"  {part:<14} {1000 * seconds[part]:8.1f} ms {seconds[part] / total:6.1%}"
    verdict = "holds" if ours <= AT_MOST * total else "DOES NOT HOLD"
    yield f"  not the network  {ours / total:18.1%} (at most {AT_MOST:.0%}: {verdict})"


def time_steps(backbone: str, n_steps: int) -> Seconds:
    """Return the median seconds of each part over all steps but the first."""
    model, oracle = _pcl(backbone)
    steps = [_one_step(model, oracle, number) for number in range(n_steps + 1)][1:]
    return {part: float(np.median([one[part] for one in steps])) for part in (*NETWORK, *OURS)}


def _pcl(backbone: str) -> tuple[PCL, LabelOracle]:
    """Return PCL with some answers, and the oracle."""
    rng = stream(0, "speed of a step")
    pictures = rng.integers(0, 256, size=(_IMAGES, _SIZE, _SIZE, 3), dtype=np.uint8)
    truth = rng.integers(0, 2, size=_IMAGES)
    plan = Plan(cadence="batch", batch_size=_BATCH, sampler="linked", precision="bf16")
    shape = Architecture(size=_SIZE, recipe="pcl")
    model = PCL(2, backbone=backbone, architecture=shape, plan=plan, random_state=0)
    model.start(pictures)
    pairs = rng.integers(0, _IMAGES, size=(500, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    is_same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    model.tell(pairs, np.where(is_same, 1, -1).tolist())
    model._asker.budget = 10_000
    model.network_.train()
    return model, LabelOracle(truth)


def _one_step(model: PCL, oracle: LabelOracle, number: int) -> Seconds:
    """Take one step of the ``batch`` cadence, part by part, as `PCL._step_terms` does."""
    spent: defaultdict[str, float] = defaultdict(float)
    model._epoch = number  # a new order, new views
    indexes = next(model._batches())
    model._views = _Timed(model._views, spent)  # type: ignore[assignment]  # the same methods
    with _timed(spent, "forward"):
        a, b = model._look_twice(number, indexes, order.share(len(indexes), 0, 1))
    model._views = model._views.views  # type: ignore[attr-defined]
    spent["forward"] -= spent["augmentation"]
    with _timed(spent, "query scoring"):
        rows_ = [model._query_rows(view).detach().float().cpu().numpy() for view in (a, b)]
        probabilities = ((a.p + b.p) / 2).detach().cpu().numpy()
        questions = model._asker.ask_in(indexes, 1, (rows_[0], rows_[1]), probabilities)
        model._asker.remember(indexes, rows_[0] + rows_[1])
    model.tell(questions, oracle.answer(questions))
    with _timed(spent, "relations"):
        known = known_of(model.constraints_, indexes, a.z.device)
    with _timed(spent, "losses"):
        loss = torch.stack(list(model._loss_terms(a, b, known).values())).sum()
    with _timed(spent, "backward"):
        _backward_and_step(loss, model._optimiser, spent)
    spent["backward"] -= spent["optimiser"]
    return spent


def _backward_and_step(loss: torch.Tensor, optimiser: Any, spent: Seconds) -> None:
    """Step as training does, with the optimiser timed separately."""
    plain: Callable[..., Any] = optimiser.step

    def timed(*args: Any, **kwargs: Any) -> Any:
        with _timed(spent, "optimiser"):
            return plain(*args, **kwargs)

    optimiser.step = timed
    try:
        step(loss, optimiser, clip_norm=20.0)
    finally:
        optimiser.step = plain


class _Timed:
    """Views whose drawing is timed."""

    def __init__(self, views: Any, spent: Seconds) -> None:
        self.views, self._spent = views, spent

    def draw(self, images: torch.Tensor, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Return two random views of each image."""
        with _timed(self._spent, "augmentation"):
            first, second = self.views.draw(images, rng)
            return first, second


@contextmanager
def _timed(spent: Seconds, part: str) -> Iterator[None]:
    begin = time.process_time()
    try:
        yield
    finally:
        spent[part] += time.process_time() - begin
