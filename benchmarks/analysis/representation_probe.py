"""Probes of the learned representation z for the wanted criterion and for another one."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.analysis.run_arguments import named_run, run_parser
from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.objective import constrained_batches, fraction_met
from likewise.nn.training import shuffled_batches
from likewise.random_streams import stream
from likewise_bench.baselines.pcl_authors import fixed_batches
from likewise_bench.evaluation import GroundTruth
from likewise_bench.inputs import make_inputs
from likewise_bench.runner import load, make_run_method
from likewise_bench.spec import RunSpec, split_parts

Rows = npt.NDArray[np.floating]
Labels = npt.NDArray[Any]
Row = dict[str, Any]
_NEIGHBOURS = 10
_EPOCHS = 5  # over which meetings are counted


def targeted(run: RunSpec, other: str) -> Row:
    """Return the probes before and after the answers, and monitored values.

    Parameters
    ----------
    run : RunSpec
        `criterion` is the wanted one.
    other : str
        Another criterion of the same images, about which nothing is asked.
    """
    dataset = load(run)
    truth = GroundTruth(dataset, run.criterion, split_parts(run, dataset))
    inputs = make_inputs(run, dataset, truth.parts)
    learned = inputs.parts.train
    labels = {
        "wanted": dataset.labels(truth.criterion)[learned],
        "other": dataset.labels(other)[learned],
    }
    before = make_run_method(run, truth.n_values).fit(inputs.train)
    after = make_run_method(run, truth.n_values)
    after.fit(inputs.train, oracle=truth.oracle(run), n_questions=run.n_questions)
    asked = {i for a in after.constraints_.answers.values() for i in a.question.images}
    rest = np.setdiff1d(np.arange(len(learned)), sorted(asked))
    return {
        "dataset": dataset.name,
        "wanted": truth.criterion,
        "other": other,
        "method": run.method,
        "seed": run.seed,
        "n_answers": after.constraints_.n_answers,
        "n_unasked": len(rest),
        "before": probes(before.transform(inputs.train), labels, rest, run.seed),
        "after": probes(after.transform(inputs.train), labels, rest, run.seed),
        "links_met": meetings(after),
        "log": {
            name: [round(epoch[name], 4) for epoch in after.history_ if name in epoch]
            for name in ("links_met", "size_entropy")
        },
    }


def probes(rows: Rows, labels: Mapping[str, Labels], images: Labels, seed: int) -> Row:
    """Return the accuracy of a linear probe and of nearest neighbours, for each criterion.

    Both learn from one half of `images`, drawn from the seed, and are scored on the other.
    """
    order = stream(seed, "probe").permutation(images)
    learn, test = order[: len(order) // 2], order[len(order) // 2 :]
    scaled = StandardScaler().fit(rows[learn]).transform(rows)
    found: Row = {}
    for name, truth in labels.items():
        linear = LogisticRegression(max_iter=500).fit(scaled[learn], truth[learn])
        near = KNeighborsClassifier(min(_NEIGHBOURS, len(learn)), metric="cosine")
        near.fit(rows[learn], truth[learn])
        found[name] = {
            "linear": round(float(linear.score(scaled[test], truth[test])), 4),
            "knn": round(float(near.score(rows[test], truth[test])), 4),
        }
    return found


def meetings(model: InteractiveClusterer) -> dict[str, float]:
    """Return the share of known links whose images meet in a batch of one epoch, by sampler."""
    graph, plan, seed = model.constraints_, model.learner_.plan, model.seed_

    def batches(sampler: str, epoch: int) -> list[Any]:
        if sampler == "linked":
            fraction = plan.constrained_fraction
            return list(constrained_batches(graph, plan.batch_size, seed, epoch, fraction=fraction))
        if sampler == "uniform":
            return list(shuffled_batches(graph.n_images, plan.batch_size, seed, epoch))
        return list(fixed_batches(graph.n_images, plan.batch_size))

    return {
        sampler: round(_mean_met(graph, [batches(sampler, epoch) for epoch in range(_EPOCHS)]), 4)
        for sampler in ("linked", "uniform", "fixed")
    }


def _mean_met(graph: ConstraintGraph, epochs: Sequence[list[Any]]) -> float:
    return float(np.mean([fraction_met(graph, batches) for batches in epochs]))


def main(words: Sequence[str] | None = None) -> None:
    """Print one JSON object."""
    parser = run_parser(__doc__)
    parser.add_argument("--other", required=True, help="another one")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    run = named_run(given, n_questions=given.questions, seed=given.seed)
    sys.stdout.write(json.dumps(targeted(run, given.other)) + "\n")


if __name__ == "__main__":
    main()
