"""Accuracy of `Likewise` after each of the first answers, with K given and not given.

One simulated annotator without noise; a training at every number of answers that is reported, and
after every fifth answer, as on the page::

    python -m benchmarks.analysis.first_answers --data DIR --tasks cards:suit --seeds 2
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise_bench.evaluation import GroundTruth
from likewise_bench.inputs import make_inputs
from likewise_bench.runner import load
from likewise_bench.spec import RunSpec, split_parts

POINTS = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 100)
TASKS = (
    *("fruits:species", "fruits:colour", "fruits:variety"),
    *("fashion:type", "fashion:colour", "fashion:gender"),
    *("cards:suit", "cards:colour"),
)
_TRAIN_AFTER = 5  # answers, beside the reported points
Curve = list[float]


def curve(X: object, truth: npt.NDArray[np.intp], n_clusters: int | None, seed: int) -> Curve:
    """Return the accuracy at each of `POINTS`."""
    model = Likewise(n_clusters, kinds="pair,choice", random_state=seed).start(X)
    oracle = LabelOracle(truth)
    scores = [accuracy(truth, model.labels_)]
    for point in POINTS[1:]:
        while model.n_answered_ < point:
            questions = model.ask(1)
            model.tell(questions, oracle.answer(questions))
            if model.n_answered_ == point or not model.n_answered_ % _TRAIN_AFTER:
                model.train()
        scores.append(accuracy(truth, model.labels_))
    return scores


def curves(data: Path, tasks: Sequence[str], seeds: int) -> Iterator[tuple[str, bool, Curve]]:
    """Yield task, whether K was given, and the curve, for every task and seed."""
    for task in tasks:
        name, criterion = task.split(":")
        for seed in range(seeds):
            run = RunSpec("likewise", dataset=name, data=str(data), criterion=criterion, seed=seed)
            dataset = load(run)
            truth = GroundTruth(dataset, criterion, split_parts(run, dataset))
            inputs = make_inputs(run, dataset, truth.parts)
            labels = dataset.labels(criterion)[inputs.parts.train]
            classes = np.unique(labels, return_inverse=True)[1]
            for k in (truth.n_values, None):
                yield task, k is not None, curve(inputs.train, classes, k, seed)


def main(words: Sequence[str] | None = None) -> None:
    """Print a Markdown table: one row per task, and the means; each curve on stderr as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", nargs="+", default=TASKS, metavar="DATASET:CRITERION")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(words)
    found: dict[tuple[str, bool], list[Curve]] = {}
    for task, is_given, scores in curves(given.data, given.tasks, given.seeds):
        sys.stderr.write(f"{task} {is_given} {np.round(scores, 3).tolist()}\n")
        found.setdefault((task, is_given), []).append(scores)
        found.setdefault(("mean", is_given), []).append(scores)
    write = sys.stdout.write
    write(f"| task | K | {' | '.join(map(str, POINTS))} |\n")
    write("|---" * (len(POINTS) + 2) + "|\n")
    for (task, is_given), rows in sorted(found.items(), key=lambda item: item[0][0] == "mean"):
        cells = " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
        write(f"| {task} | {'given' if is_given else 'not given'} | {cells} |\n")


if __name__ == "__main__":
    main()
