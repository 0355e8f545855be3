"""Supervised upper bound: a cross-validated linear classifier on the same vectors."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from likewise.embedding.embeddings import Embeddings
from likewise.estimators.data import BlockScaler, VectorData
from likewise.estimators.kernel.features import VisualWords
from likewise_bench.evaluation import GroundTruth
from likewise_bench.inputs import for_k_means, make_inputs
from likewise_bench.runner import load
from likewise_bench.spec import RunSpec, split_parts

_FOLDS, _N_WORDS = 5, 128


def ceiling(run: RunSpec) -> dict[str, Any]:
    """Return the mean accuracy over five folds."""
    dataset = load(run)
    ground_truth = GroundTruth(dataset, run.criterion, split_parts(run, dataset))
    inputs = make_inputs(run, dataset, ground_truth.parts)
    vectors = for_k_means(inputs.train)
    truth = dataset.labels(ground_truth.criterion)[inputs.parts.train]
    return {
        "dataset": dataset.name,
        "criterion": ground_truth.criterion,
        "seed": run.seed,
        "n_images": len(truth),
        "ceiling_acc": round(cross_validated(_scaled(vectors), truth, run.seed), 4),
        "ceiling_acc_with_words": _with_words(vectors, truth, run.seed),
    }


def _with_words(vectors: Any, truth: npt.NDArray[Any], seed: int) -> float | None:
    """Return the same with visual words as further blocks; None without local features."""
    local_features = getattr(vectors, "local_features", None)
    words = VisualWords(_N_WORDS, seed).fit(local_features).transform(local_features)
    if not words:
        return None
    roots = {name: np.sqrt(shares) for name, shares in words.items()}
    rows = _scaled(Embeddings({**vectors.blocks, **roots}))
    return round(cross_validated(rows, truth, seed), 4)


def cross_validated(rows: npt.NDArray[np.floating], truth: npt.NDArray[Any], seed: int) -> float:
    """Return the mean cross-validated accuracy of a ridge classifier."""
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    strength = float(np.square(rows).sum(axis=1).mean())  # mean squared norm of a row; not tuned
    scores = cross_val_score(RidgeClassifier(strength), rows, truth, cv=folds)
    return float(scores.mean())


def _scaled(vectors: Any) -> npt.NDArray[np.float32]:
    """Return blocks of equal weight, as the methods use them."""
    is_plain = isinstance(vectors, np.ndarray)
    source = VectorData(vectors) if is_plain else VectorData(vectors.matrix(), vectors.slices)
    scaler = BlockScaler(source.slices, source.matrix.shape[1]).fit(source.matrix)
    return scaler.transform(source.matrix.astype(np.float32))


def main(words: Sequence[str] | None = None) -> None:
    """Print one JSON object per seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--data")
    parser.add_argument("--by", "--orientation", dest="criterion", required=True)
    parser.add_argument("--split", default="all", help="all, train or test")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(words)
    for seed in range(given.seeds):
        run = RunSpec(
            method="kmeans",
            dataset=given.dataset,
            data=given.data,
            criterion=given.criterion,
            split=given.split,
            seed=seed,
        )
        sys.stdout.write(json.dumps(ceiling(run)) + "\n")


if __name__ == "__main__":
    main()
