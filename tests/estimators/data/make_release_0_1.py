"""Save models with the code of release 0.1, for `test_release_0_1.py`.

Kept for the record; it runs with the code of release 0.1 only:

    PYTHONPATH=OLD/src python make_release_0_1.py OUTPUT_FOLDER
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from likewise import CC, DSAC, OCC, PCL, LabelOracle, Likewise
from likewise.methods.architecture import Architecture
from likewise.methods.kmeans import KMeans
from likewise.methods.plan import Plan

PLAN = Plan(n_rounds=2, epochs_per_round=2, batch_size=32)
SMALL = Architecture(n_features=16, n_hidden=16, n_projection=8)


def main(output: Path) -> None:
    """Write one model a method, and what each predicts for 12 further rows."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(3, 8)) * 3
    truth = np.arange(60) % 3
    rows = (centers[truth] + rng.normal(size=(60, 8))).astype(np.float32)
    new = (centers[np.arange(12) % 3] + rng.normal(size=(12, 8))).astype(np.float32)
    networks = {"plan": PLAN, "architecture": SMALL}
    models = {
        "likewise": (Likewise(3, random_state=0), 12),
        "likewise_grown": (Likewise(None, kinds="pair,choice,label", random_state=0), 12),
        "cc": (CC(3, random_state=0, **networks), 0),
        "occ": (OCC(3, random_state=0, **networks), 12),
        "pcl": (PCL(3, random_state=0, bank_size=16, **networks), 12),
        "dsac": (DSAC(3, random_state=0, **networks), 12),
        "kmeans": (KMeans(3, random_state=0), 0),
    }
    expected: dict[str, object] = {"rows": rows.tolist(), "new": new.tolist()}
    for name, (model, n_questions) in models.items():
        oracle = LabelOracle(truth) if n_questions else None
        model.fit(rows, oracle=oracle, n_questions=n_questions)
        model.save(output / f"{name}.likewise-model")
        expected[name] = {
            "labels": model.labels_.tolist(),
            "n_answers": model.constraints_.n_answers,
            "predict_proba": np.round(model.predict_proba(new), 6).tolist(),
        }
    (output / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
