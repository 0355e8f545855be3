"""Save models with the code of release 0.1, for `test_saved_models.py`.

Kept for the record; it runs with the code of release 0.1 only:

    PYTHONPATH=OLD/src python make_release_0_1.py OUTPUT_FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np

from likewise import LabelOracle
from likewise.methods.architecture import Architecture
from likewise.methods.plan import Plan
from likewise.methods.registry import method_class

NETWORKS = {
    "plan": Plan(warmup_epochs=1, n_rounds=2, epochs_per_round=2, batch_size=16),
    "architecture": Architecture(n_features=8, n_hidden=8, n_projection=4),
}
NAMES = ("cobra", "dcc", "dc-gmm", "idfd", "gcc", "mice", "idc", "tod")


def main(output: Path) -> None:
    """Write one model for each kind of saved state, its predictions and its next questions."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(3, 4)) * 3
    truth = np.arange(36) % 3
    rows = (centers[truth] + rng.normal(size=(36, 4))).astype(np.float32)
    new = (centers[np.arange(6) % 3] + rng.normal(size=(6, 4))).astype(np.float32)
    expected = {"new": new.tolist()}
    for name in NAMES:
        extra = {"n_queue": 16} if name == "mice" else {}
        given = {} if name == "cobra" else {**NETWORKS, **extra}
        model = method_class(name)(n_clusters=3, random_state=0, **given)
        model.fit(rows, oracle=LabelOracle(truth), n_questions=6)
        model.save(output / f"{name}.likewise-model")
        has_questions = name in ("dcc", "dc-gmm", "idc", "tod")
        expected[name] = {
            "labels": model.labels_.tolist(),
            "predict_proba": model.predict_proba(new).tolist(),
            "asked": [list(q.images) for q in model.ask(2)] if has_questions else [],
        }
    (output / "expected.json").write_text(json.dumps(expected) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
