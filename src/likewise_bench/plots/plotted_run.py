"""Input of a figure: result rows, or a run with its data and model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from likewise.errors import DatasetError, InvalidParameterError, ResultsFileError
from likewise.estimators.base import InteractiveClusterer
from likewise.oracles.base import CountingOracle
from likewise_bench.datasets.base import Dataset, Indexes, Labels
from likewise_bench.evaluation import GroundTruth
from likewise_bench.inputs import Inputs, Step, make_inputs, quiet
from likewise_bench.runner import load, make_run_method
from likewise_bench.spec import RunSpec, split_parts
from likewise_bench.sweep.results_file import Row


@dataclass(frozen=True)
class Request:
    """The requested figure and its inputs.

    Parameters
    ----------
    kind : str
        Name of the figure.
    rows : tuple of dict
        Result rows, for figures of results.
    run : RunSpec, optional
        The run to perform, for figures of a run.
    options : mapping
        ``at`` (snapshots), ``by`` (``tsne`` or ``umap``), ``n`` (number of images), ``epochs``.
    """

    kind: str
    rows: tuple[Row, ...] = ()
    run: RunSpec | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def needed_run(self) -> RunSpec:
        """Return the run; raise an error without one."""
        if self.run is None:
            raise InvalidParameterError(
                f"The figure {self.kind!r} needs a run; give --dataset, or --images and --labels, "
                "with --by and --method."
            )
        return self.run

    def needed_rows(self) -> tuple[Row, ...]:
        """Return the rows without errors; raise an error if there is none."""
        rows = tuple(row for row in self.rows if "error" not in row)
        if not rows:
            raise ResultsFileError(
                f"The figure {self.kind!r} needs results; give results files of "
                "`likewise bench sweep`."
            )
        return rows


@dataclass(frozen=True)
class PlottedRun:
    """Data, model and questions of one run, for figures.

    Attributes
    ----------
    run : RunSpec
    dataset : Dataset
    inputs : Inputs
    ground_truth : GroundTruth
    model : InteractiveClusterer
        Untrained until `fit` is called.
    """

    run: RunSpec
    dataset: Dataset
    inputs: Inputs
    ground_truth: GroundTruth
    model: InteractiveClusterer

    @property
    def labels(self) -> Labels:
        """Return the true labels of the training images, for display only."""
        return self.dataset.labels(self.ground_truth.criterion)[self.inputs.parts.train]

    def pixels(self, image: int) -> Any:
        """Return one training image, (h, w, 3)."""
        if self.dataset.collection is None:
            raise DatasetError(f"{self.dataset.name!r} has only vectors; this figure needs images.")
        return self.dataset.collection.pixels(int(self.inputs.parts.train[image]))

    @property
    def n_images(self) -> int:
        """Return the number of training images."""
        return len(self.inputs.parts.train)

    def fit(self, watch: Callable[[CountingOracle], None] | None = None) -> CountingOracle:
        """Train with the questions of the run; `watch` is called after every round."""
        oracle = self.ground_truth.oracle(self.run)

        def look(_: InteractiveClusterer) -> None:
            if watch is not None:
                watch(oracle)

        self.model.fit(
            self.inputs.train, oracle=oracle, n_questions=self.run.n_questions, watch=look
        )
        return oracle


def set_up(run: RunSpec, step: Step = quiet) -> PlottedRun:
    """Load, split and embed the data of a run."""
    dataset = load(run, step)
    truth = GroundTruth(dataset, run.criterion, split_parts(run, dataset))
    model = make_run_method(run, truth.n_values)
    inputs = make_inputs(run, dataset, truth.parts, step)
    truth = GroundTruth(dataset, run.criterion, inputs.parts)
    return PlottedRun(run, dataset, inputs, truth, model)


def indexes_of(plotted: PlottedRun, most: int, seed: int) -> Indexes:
    """Return at most `most` images, sampled with the named stream, in order."""
    import numpy as np

    from likewise.random_streams import stream

    order = stream(seed, "figure", "images").permutation(plotted.n_images)
    chosen: Indexes = np.sort(order[:most])
    return chosen
