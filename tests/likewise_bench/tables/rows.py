"""Rows as a sweep leaves them, made by hand."""

from typing import Any


def row(method: str, acc: float, *, seed: int = 0, n: int = 100, **spec: Any) -> dict[str, Any]:
    """Return a row; `spec` is what was asked besides the usual."""
    asked = {"dataset": "cards", "criterion": "suit", "seed": seed, **spec}
    asked = {"method": method, "n_questions": n, **asked}
    is_tested = asked.get("protocol") == "inductive"
    five = {"nmi": acc / 2, "ari": acc / 3, "acc": acc, "fmi": acc, "pair_f1": acc}
    test = {name: value / 10 for name, value in five.items()} if is_tested else None
    return {
        "spec": asked,
        "dataset": asked["dataset"],
        "criterion": asked["criterion"],
        "method": method,
        "strategy": asked.get("strategy"),
        "preset": None,
        "settings": {**asked.get("settings", {}), "from_scratch": "from_scratch" in asked},
        "encoder": None if "from_scratch" in asked else "lite",
        "protocol": asked.get("protocol", "transductive"),
        "seed": seed,
        "n_images": 1040,
        "n_clusters": 4,
        "n_questions": n,
        "n_answers": n,
        **five,
        "raw": five,
        "unasked": five,
        "test": test,
        "baselines": {"majority_acc": 0.25, "kmeans_acc": 0.3, "other_criterion_acc": 0.5},
        "curve": [
            {
                "n_answers": n,
                "person_seconds": 2.0 * n,
                "acc": acc,
                "nmi": acc / 2,
                "ari": acc / 3,
                "test": test,
            }
        ],
        "seconds": {"embed": 0.1, "ask": 0.1, "train": 1.0, "total": 2.0 + seed, "person": 2.0 * n},
        "peak_memory_mb": 500.0,
        "n_threads": 1,
        "machine": {"processor": "a chip", "cores": 2, "python": "3.11", "likewise": "0.1"},
    }
