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

from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch
from likewise.estimators.deep.pcl import PCL
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.estimators.questioners import PairQuestioner
from likewise.nn.training import step
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream

AT_MOST = 0.05  # maximum share of the time outside the network
MAX_RATIO = 1.05  # of a step with questions to forward, backward and optimiser step alone
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
    ratio = total / (total - ours)
    verdict = "holds" if ratio <= MAX_RATIO else "DOES NOT HOLD"
    yield f"  step with questions / bare step {ratio:.3f} (at most {MAX_RATIO}: {verdict})"


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
    plan = TrainingPlan(query_timing="batch", batch_size=_BATCH, sampler="linked", precision="bf16")
    shape = NetworkConfig(size=_SIZE, recipe="pcl")
    model = PCL(2, backbone=backbone, architecture=shape, plan=plan, random_state=0)
    model.start(pictures)
    pairs = rng.integers(0, _IMAGES, size=(500, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    is_same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    model.tell(pairs, np.where(is_same, 1, -1).tolist())
    model.budget_ = 10_000
    _learner(model).network.train()
    return model, LabelOracle(truth)


def _learner(model: PCL) -> NetworkLearner:
    assert isinstance(model.learner_, NetworkLearner)
    return model.learner_


def _one_step(model: PCL, oracle: LabelOracle, number: int) -> Seconds:
    """Take one step with questions inside the batch, part by part, as `NetworkLearner` does."""
    spent: defaultdict[str, float] = defaultdict(float)
    learner, questioner = _learner(model), model.questioner_
    assert isinstance(questioner, PairQuestioner)
    learner.epoch, learner.constraints = number, model.constraints_  # a new order, new views
    batch = Batch(learner, 0, next(learner.sample_batches()))
    plain: Any = learner.augmentation
    learner.augmentation = _Timed(plain, spent)  # type: ignore[assignment]  # draws only
    with _timed(spent, "forward"):
        a, b = batch.views
    learner.augmentation = plain
    spent["forward"] -= spent["augmentation"]
    with _timed(spent, "query scoring"):
        views = a.z.detach().float().cpu().numpy(), b.z.detach().float().cpu().numpy()
        probabilities = ((a.p + b.p) / 2).detach().cpu().numpy()
        questions = questioner.propose_in_batch(
            1, batch.indexes, views, probabilities, model.query_state()
        )
        questioner.remember(batch.indexes, views[0] + views[1])
    model.tell(questions, oracle.answer(questions))
    with _timed(spent, "relations"):
        assert batch.relations is not None
    with _timed(spent, "losses"):
        loss = torch.stack(list(learner.objective.terms(batch).values())).sum()
    with _timed(spent, "backward"):
        _backward_and_step(loss, learner.optimiser, spent)
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
