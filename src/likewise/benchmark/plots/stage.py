"""A run with the curtain up: its data, its truth, and the model while it learns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from likewise.benchmark.contestant import make_contestant
from likewise.benchmark.datasets.dataset import Dataset, Indexes, Labels
from likewise.benchmark.inputs import Inputs, Step, make_inputs, quiet
from likewise.benchmark.judge import Judge
from likewise.benchmark.protocol import Run, divide
from likewise.benchmark.run import load
from likewise.errors import DatasetError
from likewise.methods.base import PersonalClusterer
from likewise.oracles.base import CountingOracle


@dataclass(frozen=True)
class Stage:
    """Everything of one run that a figure may want to show.

    Attributes
    ----------
    run : Run
    dataset : Dataset
    inputs : Inputs
    judge : Judge
    model : PersonalClusterer
        Untrained until `play` was called.
    """

    run: Run
    dataset: Dataset
    inputs: Inputs
    judge: Judge
    model: PersonalClusterer

    @property
    def truth(self) -> Labels:
        """Return the true labels of the images learned from; to draw with, never to learn."""
        return self.dataset.labels(self.judge.orientation)[self.inputs.parts.train]

    def pixels(self, image: int) -> Any:
        """Return one of the images learned from, (h, w, 3)."""
        if self.dataset.collection is None:
            raise DatasetError(f"{self.dataset.name!r} has no pictures to show, only vectors.")
        return self.dataset.collection.pixels(int(self.inputs.parts.train[image]))

    @property
    def n_images(self) -> int:
        """Return how many images are learned from."""
        return len(self.inputs.parts.train)

    def play(self, watch: Callable[[CountingOracle], None] | None = None) -> CountingOracle:
        """Train, asking as the run says; `watch` is called after every round."""
        oracle = self.judge.oracle(self.run)

        def look(_: PersonalClusterer) -> None:
            if watch is not None:
                watch(oracle)

        self.model.fit(
            self.inputs.train, oracle=oracle, n_questions=self.run.n_questions, watch=look
        )
        return oracle


def set_up(run: Run, step: Step = quiet) -> Stage:
    """Load, divide and embed what a run needs."""
    dataset = load(run, step)
    judge = Judge(dataset, run.orientation, divide(run, dataset))
    model = make_contestant(run, run.n_clusters or judge.n_values)
    inputs = make_inputs(run, dataset, judge.parts, step)
    judge = Judge(dataset, run.orientation, inputs.parts)
    return Stage(run, dataset, inputs, judge, model)


def indexes_of(stage: Stage, most: int, seed: int) -> Indexes:
    """Return at most so many images, drawn by name, in their order."""
    import numpy as np

    from likewise.seeds import stream

    order = stream(seed, "figure", "images").permutation(stage.n_images)
    chosen: Indexes = np.sort(order[:most])
    return chosen
