"""The probe that tells encoders apart."""

import numpy as np
import pytest

from likewise.benchmark.probe_encoders import prepared, probe
from likewise.encoders.embeddings import Embeddings
from likewise.seeds import stream

RNG = stream(0, "probe")
LABELS = RNG.choice(["a", "b"], size=400)
NOISE = RNG.normal(size=(400, 6)).astype(np.float32)
SIGNAL = np.where(LABELS == "a", 1, -1)[:, None] + 0.1 * NOISE


def test_reads_what_is_there_and_nothing_that_is_not() -> None:
    vectors = Embeddings({"signal": SIGNAL.astype(np.float32), "noise": NOISE})
    assert probe(prepared(vectors, ["signal"]), LABELS, 0) == pytest.approx(1)
    assert probe(prepared(vectors, ["noise"]), LABELS, 0) == pytest.approx(0.5, abs=0.08)


def test_facets_weigh_the_same_whatever_their_scale_and_width() -> None:
    vectors = Embeddings({"x": 1000 * NOISE, "y": NOISE[:, :2]})
    rows = prepared(vectors, ["x", "y"])
    np.testing.assert_allclose(np.linalg.norm(rows[:, :6], axis=1), np.sqrt(2), rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(rows[:, 6:], axis=1), np.sqrt(2), rtol=1e-4)
