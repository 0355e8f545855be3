"""PCL's paper preset on synthetic vectors with one departure more in each row: what trains?

Vectors with two groupings; the answers follow the one that shows less. Only the number of epochs,
questions and the widths of layers are reduced.

    python -m benchmarks.analysis.pcl_departures --seeds 4
"""

import argparse
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
_WIDTHS = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)


def departures(n_seeds: int, n_images: int = 240) -> Iterator[str]:
    """Yield one printed row per variant: accuracy of the assignment head, and collapse."""
    for name, changes in VARIANTS.items():
        found = [run(changes, seed, n_images) for seed in range(n_seeds)]
        accuracies = [score for score, _ in found]
        n_collapsed = sum(collapsed for _, collapsed in found)
        each = " ".join(f"{score:.2f}" for score in accuracies)
        yield f"| {name} | {np.mean(accuracies):.3f} | {each} | {n_collapsed} of {n_seeds} |"


def run(changes: Mapping[str, Any], seed: int, n_images: int) -> tuple[float, bool]:
    """Return the accuracy of the assignment head, and whether training was found collapsed."""
    vectors, wanted = two_groupings(n_images, seed)
    changed = {"backbone": None, "architecture": _WIDTHS, "initial_questions": _INITIAL, **changes}
    plan = changed.get("plan", PAPER).replace(epochs_per_round=_EPOCHS)
    model = PCL.from_preset(
        "paper", **{**changed, "n_clusters": 2, "random_state": seed, "plan": plan}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(vectors, oracle=LabelOracle(wanted), n_questions=_QUESTIONS)
    assert isinstance(model.learner_, NetworkLearner)
    labels = model.learner_.forward_all().probabilities.argmax(1)
    is_collapsed = any("has collapsed" in str(warning.message) for warning in caught)
    return accuracy(wanted, labels), is_collapsed


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
    torch.set_num_threads(1)
    for row in departures(parser.parse_args().seeds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
