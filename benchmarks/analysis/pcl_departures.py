"""PCL's paper preset on synthetic vectors with one departure more in each row: what trains?

Vectors with two groupings; the answers follow the one that shows less. Only the number of epochs,
questions and the widths of layers are reduced.

    python -m benchmarks.analysis.pcl_departures --seeds 4
    python -m benchmarks.analysis.pcl_departures --curve  # the loss by epoch, seed 0
"""

import argparse
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.pcl import PAPER, PCL
from likewise.estimators.params import NetworkConfig
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream

STEP = {"plan": PAPER.replace(learning_rate=3e-4)}
GATED = {"attention": "gated"}
MIXED, LOG = {"norm": "mixed"}, {"assignment_similarity": "log"}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "paper": {},
    "step size 3e-4": STEP,
    "gated attention": GATED,
    "both": {**STEP, **GATED},
    "both, norm mixed": {**STEP, **GATED, **MIXED},
    "both, norm mixed, similarity log (reproduction)": {**STEP, **GATED, **MIXED, **LOG},
    "reproduction without attention": {**STEP, **MIXED, **LOG, "attention": "none"},
    "reproduction with plain attention": {**STEP, **MIXED, **LOG},
}
_EPOCHS, _QUESTIONS, _INITIAL = 100, 100, 20
_SHOWN = (1, 3, 10, 30, 60, 100)  # epochs of the curve
_WIDTHS = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)


def departures(n_seeds: int, n_images: int = 240) -> Iterator[str]:
    """Yield one printed row per variant: accuracy of the assignment head, and collapse."""
    for name, changes in VARIANTS.items():
        found = [run(changes, seed, n_images) for seed in range(n_seeds)]
        accuracies = [score for score, _ in found]
        n_collapsed = sum(collapsed for _, collapsed in found)
        each = " ".join(f"{score:.2f}" for score in accuracies)
        yield f"| {name} | {np.mean(accuracies):.3f} | {each} | {n_collapsed} of {n_seeds} |"


def curves(n_images: int = 240) -> Iterator[str]:
    """Yield one printed row per preset: the loss in some epochs; and that of equal rows."""
    yield "| loss in epoch | " + " | ".join(str(epoch) for epoch in _SHOWN) + " |"
    for name in ("paper", "both, norm mixed, similarity log (reproduction)"):
        model, _ = train(VARIANTS[name], 0, n_images)
        losses = [model.history_[epoch - 1]["loss"] for epoch in _SHOWN]
        yield f"| {name} | " + " | ".join(f"{loss:.2f}" for loss in losses) + " |"
    n = min(PAPER.batch_size, n_images)
    constant = 2 * math.log(2 * n) + math.log(3)  # of z, of p, of the columns of two clusters
    yield f"| all images equal | {constant:.2f} |"


def run(changes: Mapping[str, Any], seed: int, n_images: int) -> tuple[float, bool]:
    """Return the accuracy of the assignment head, and whether training was found collapsed."""
    model, is_collapsed = train(changes, seed, n_images)
    assert isinstance(model.learner_, NetworkLearner)
    labels = model.learner_.forward_all().probabilities.argmax(1)
    return accuracy(two_groupings(n_images, seed)[1], labels), is_collapsed


def train(changes: Mapping[str, Any], seed: int, n_images: int) -> tuple[PCL, bool]:
    """Return the trained model, and whether training was found collapsed."""
    vectors, wanted = two_groupings(n_images, seed)
    changed = {"backbone": None, "architecture": _WIDTHS, "initial_questions": _INITIAL, **changes}
    plan = changed.get("plan", PAPER).replace(epochs_per_round=_EPOCHS)
    model = PCL.from_preset(
        "paper", **{**changed, "n_clusters": 2, "random_state": seed, "plan": plan}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(vectors, oracle=LabelOracle(wanted), n_questions=_QUESTIONS)
    return model, any("has collapsed" in str(warning.message) for warning in caught)


def two_groupings(n: int, seed: int) -> tuple[Any, Any]:
    """Return vectors in which one grouping dominates, and the other grouping."""
    rng = stream(seed, "two factors")
    bold, faint = rng.integers(2, size=(2, n))
    looks: Any = rng.normal(size=(2, 2, 8)) * np.array([3.0, 1.5])[:, None, None]
    noise = rng.normal(size=(n, 16)) * 0.6
    rows = np.hstack([looks[0][bold], looks[1][faint]]) + noise
    return rows.astype(np.float32), faint.astype(np.intp)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--curve", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for row in curves() if given.curve else departures(given.seeds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
