"""The probe that tells encoders apart."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.analysis import probe_encoders
from benchmarks.analysis.probe_encoders import prepared, probe, probe_table, rates_of
from likewise.embedding.embeddings import Embeddings
from likewise.random_streams import stream
from likewise.types import Floats
from likewise_bench.datasets.base import Dataset

RNG = stream(0, "probe")
LABELS = RNG.choice(["a", "b"], size=400)
NOISE = RNG.normal(size=(400, 6)).astype(np.float32)
SIGNAL = np.where(LABELS == "a", 1, -1)[:, None] + 0.1 * NOISE


def test_a_probe_finds_a_linear_label_but_not_a_random_one() -> None:
    vectors = Embeddings({"signal": SIGNAL.astype(np.float32), "noise": NOISE})
    assert probe(prepared(vectors, ["signal"]), LABELS, 0) == pytest.approx(1)
    assert probe(prepared(vectors, ["noise"]), LABELS, 0) == pytest.approx(0.5, abs=0.08)


def test_feature_blocks_have_equal_weight_at_any_scale_and_width() -> None:
    vectors = Embeddings({"x": 1000 * NOISE, "y": NOISE[:, :2]})
    rows = prepared(vectors, ["x", "y"])
    np.testing.assert_allclose(np.linalg.norm(rows[:, :6], axis=1), np.sqrt(2), rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(rows[:, 6:], axis=1), np.sqrt(2), rtol=1e-4)


def test_every_encoder_is_timed_on_the_same_images(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(ways: dict[str, Callable[[], dict[str, Floats]]], n: int) -> dict[str, float]:
        return {name: len(way()["last"]) + n / 10 for name, way in ways.items()}

    monkeypatch.setattr(probe_encoders, "_N_TIMED", 3)
    monkeypatch.setattr(probe_encoders, "measure_rates", count)
    names = ["efficientnet-lite0-32", "efficientnet-lite0-64"]
    assert rates_of(names) == dict.fromkeys(names, 3.3)


def test_the_table_has_a_row_for_the_last_layer_and_one_for_all_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = Embeddings({"last": NOISE, "signal": SIGNAL.astype(np.float32)})
    made = Dataset("made", {"letter": LABELS}, vectors=NOISE)
    monkeypatch.setattr(probe_encoders, "DATASETS", ("made",))
    monkeypatch.setattr(probe_encoders, "load_dataset", lambda name, data: made)
    monkeypatch.setattr(probe_encoders, "vectors_of", lambda dataset, encoder: vectors)
    monkeypatch.setattr(probe_encoders, "rates_of", lambda encoders: {"tiny": 12.3})
    head, _, last, every = [row.split(" | ") for row in probe_table(Path(), ["tiny"])]
    assert head == ["| encoder", "images/s", "blocks", "made letter", "mean |"]
    assert (last[:3], every[:3]) == (["| tiny", "12", "last"], ["| tiny", "12", "all"])
    assert float(last[3]) < 0.6
    assert float(every[3]) > 0.99
